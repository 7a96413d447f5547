(() => {
  "use strict";
  // Summaries are fetched; from the disk browsers refuse that, and say so in the console.
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
})();
