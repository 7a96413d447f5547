// Boxes that scroll can be reached from the keyboard; paper shows everything, dark on white.
// Without this script everything can still be read.
(() => {
  "use strict";

  // Whoever has only a keyboard scrolls a box by focusing it first.
  const BOXES = ".bd-article :is(pre, .text_html, "
    + "[class*=scroll])";

  function markWideBoxes() {
    for (const box of document.querySelectorAll(BOXES)) {
      if (box.scrollWidth > box.clientWidth) {
        box.tabIndex = 0;
      } else {
        box.removeAttribute("tabindex");
      }
    }
  }

  // Paper is white and has no triangles to press.
  function preparePrint() {
    const root = document.documentElement;
    const theme = root.dataset.theme;
    const closed = document.querySelectorAll(".bd-article details:not(.hide, [open])");
    root.dataset.theme = "light";
    closed.forEach((details) => { details.open = true; });
    window.addEventListener("afterprint", () => {
      root.dataset.theme = theme;
      closed.forEach((details) => { details.open = false; });
    }, { once: true });
  }

  function start() {
    // sees the window, the sidebars and opened details alike
    const observer = new ResizeObserver(() => requestAnimationFrame(markWideBoxes));
    document.querySelectorAll(".bd-article").forEach((article) => observer.observe(article));
    window.addEventListener("beforeprint", preparePrint);
  }

  window.addEventListener("load", start);
})();
