// A button at each listing copies it, without prompts and what was printed.
(() => {
  "use strict";

  const ICON = (path) =>
    '<svg viewBox="0 0 24 24" fill="none" stroke-width="1.5" stroke-linecap="round"' +
    ` stroke-linejoin="round" aria-hidden="true">${path}</svg>`;
  const COPY = ICON(
    '<rect x="8" y="8" width="12" height="12" rx="2"/>' +
      '<path d="M16 8V6a2 2 0 0 0-2-2H6a2 2 0 0 0-2 2v8a2 2 0 0 0 2 2h2"/>',
  );
  const DONE = ICON('<path d="m5 12 5 5L20 7"/>');

  function say(button, words, icon) {
    button.title = words;
    button.setAttribute("aria-label", words);
    button.innerHTML = icon;
  }

  function addButton(listing) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copybtn";
    say(button, "Copy", COPY);
    listing.append(button);
  }

  async function copy(button) {
    const listing = button.parentElement.querySelector("pre");
    const shown = listing.cloneNode(true);
    shown.querySelectorAll(".gp, .go").forEach((part) => part.remove());
    try {
      await navigator.clipboard.writeText(shown.textContent.replace(/\n$/, ""));
      say(button, "Copied", DONE);
      button.classList.add("success");
    } catch {
      getSelection().selectAllChildren(listing); // where pages may not copy, the reader can
      say(button, "Press Ctrl+C or ⌘C", COPY);
    }
    setTimeout(() => {
      button.classList.remove("success");
      say(button, "Copy", COPY);
    }, 2000);
  }

  document.addEventListener("click", ({ target }) => {
    const button = target.closest?.(".copybtn");
    if (button) copy(button);
  });

  // A few at a time, after the page has been shown: nobody has to wait for them.
  const idle = window.requestIdleCallback ?? ((run) => setTimeout(() => run({ timeRemaining: () => 0 })));
  function start() {
    const left = [...document.querySelectorAll(".highlight:has(> pre)")];
    const some = (deadline) => {
      do {
        if (left.length) addButton(left.shift());
      } while (left.length && deadline.timeRemaining() > 9);
      if (left.length) idle(some, { timeout: 1000 });
    };
    idle(some, { timeout: 1000 });
  }
  window.addEventListener("load", start);
})();
