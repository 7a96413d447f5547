// Slides: starts reveal.js, fits what is shown into its slide, and shares the keys with what can be touched.
(() => {
  "use strict";

  const LEAST = 18; // pixels of text, on a slide of 1280 x 720
  const LEAST_ON_PAPER = 8; // it does not scroll, and is held nearer
  const MOST = {
    "of-formula": 1.5,
    "of-panel": 1.4,
    "of-code": 1.2,
    "of-table": 1.15,
    "of-list": 1.15,
    "of-exercise": 1.15,
  };
  const STEP = 0.05;
  // Signs that are smaller than the text they belong to
  const SIGNS = "svg, math, sup, sub, .visually-hidden, .live-spoken, .byhand-live, script, style";
  const SCROLLS =
    "pre, .byhand-scroll, .byhand-parts, .table-wrapper, .text_html, .live-static, div.math, span.math.long";

  // ---------------------------------------------------------------- sizes

  // The smallest text of what is shown, in the pixels of its style
  function smallest(box) {
    let least = 2 * LEAST; // a formula alone
    const texts = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const parent = texts.currentNode.parentElement;
      if (!texts.currentNode.data.trim() || parent.closest(SIGNS) || !parent.checkVisibility()) continue;
      const size = parseFloat(getComputedStyle(parent).fontSize);
      if (size) least = Math.min(least, size); // a panel hides a label that stands twice by the size 0
    }
    return least;
  }

  function fits(box, room) {
    const inside = box.getBoundingClientRect();
    const outside = room.getBoundingClientRect();
    if (inside.height > outside.height + 1) return false;
    for (const node of box.querySelectorAll("table, svg, img, .byhand, pre, math")) {
      if (node.getBoundingClientRect().right > outside.right + 1 && node.checkVisibility()) return false;
    }
    const lines = document.createRange();
    for (const pre of box.querySelectorAll("pre")) {
      lines.selectNodeContents(pre);
      if (lines.getBoundingClientRect().right > pre.getBoundingClientRect().right - 8) return false;
    }
    return [...box.querySelectorAll(SCROLLS)].every((node) => node.scrollWidth <= node.clientWidth + 1);
  }

  // As large as there is room, as small as can be read; where that does not do, closer.
  function fit(slide) {
    const room = slide.querySelector(":scope > .show");
    const box = room?.firstElementChild;
    if (!box || !slide.checkVisibility()) return;
    room.classList.remove("long");
    room.removeAttribute("tabindex");
    for (const tight of [false, true]) {
      box.classList.toggle("tight", tight);
      box.style.zoom = 1;
      const least = (Reveal.isPrintView() ? LEAST_ON_PAPER : LEAST) / smallest(box);
      const most = Math.max(least, MOST[slide.classList[1]] ?? 1);
      for (let zoom = most; zoom > least - STEP; zoom -= STEP) {
        box.style.zoom = Math.max(zoom, least).toFixed(3);
        if (fits(box, room)) return;
      }
    }
    scrolls(room);
  }

  function scrolls(room) {
    room.classList.add("long");
    room.tabIndex = 0;
    room.dataset.preventSwipe = "";
  }

  const slides = () => [...document.querySelectorAll(".slides section.slide")];

  // ---------------------------------------------------------------- keys

  const TOUCHED = ".live, .byhand, .byhand-chain, .long, summary, a, button, input, select, textarea";
  const touched = () => document.activeElement?.closest(".slides") && document.activeElement.closest(TOUCHED);

  // A presenter's remote sends PageUp and PageDown: these move slides wherever the focus is. Escape gives the other
  // keys back to the slides.
  function keys(event) {
    const at = touched();
    if (!at) return;
    const move = { PageDown: "next", PageUp: "prev" }[event.key];
    if (move) {
      event.preventDefault();
      event.stopImmediatePropagation();
      Reveal[move]();
    } else if (event.key === "Escape") {
      // the panel closes its sum first, by its own listener
      setTimeout(() => document.activeElement.blur());
    }
  }

  // ---------------------------------------------------------------- what grows while it is touched

  // The numbers of an element need more room than they did.
  function watch(slide) {
    const room = slide.querySelector(":scope > .show:has(.live, .byhand-chain)");
    if (!room) return;
    const box = room.firstElementChild;
    new ResizeObserver(() => {
      if (slide.checkVisibility() && !fits(box, room)) scrolls(room);
    }).observe(box);
  }

  // The line with a panel's sum lies over what follows: where that is beyond the slide, higher up, and not over the
  // entry that it belongs to.
  function place() {
    for (const bar of document.querySelectorAll(".slides .byhand > .byhand-live:not(:empty)")) {
      bar.style.transform = "";
      const [at, slide] = [bar, bar.closest(".slide")].map((node) => node.getBoundingClientRect());
      const beyond = at.bottom - slide.bottom;
      if (beyond <= 0) continue;
      const entry = bar.parentElement.querySelector("[aria-selected]")?.getBoundingClientRect();
      const above = entry && at.top - beyond < entry.bottom ? at.bottom - entry.top : beyond;
      bar.style.transform = `translateY(${-above / (at.height / bar.offsetHeight)}px)`;
    }
  }
  // A chain's line stands at the foot of the slide, or at its head where it would hide what was touched.
  function placeOfChain() {
    for (const bar of document.querySelectorAll(".slides .byhand-chain > .byhand-live:not(:empty)")) {
      bar.classList.remove("at-head");
      const entry = bar.parentElement.querySelector("[aria-selected]")?.getBoundingClientRect();
      if (entry && entry.bottom > bar.getBoundingClientRect().top) bar.classList.add("at-head");
    }
  }
  const placeSoon = () => requestAnimationFrame(() => [place, placeOfChain].forEach((run) => run()));

  // ---------------------------------------------------------------- light and dark

  // Light suits a projector. D, or the button, sets what the site's switch sets.
  function shade() {
    const { dataset } = document.body;
    dataset.theme = dataset.theme === "dark" ? "light" : "dark";
  }

  // ---------------------------------------------------------------- start

  async function start() {
    document.addEventListener("keydown", keys, true);
    document.querySelector(".shade").addEventListener("click", ({ currentTarget }) => {
      shade();
      currentTarget.blur();
    });
    for (const node of document.querySelectorAll(".live, .byhand-parts")) node.dataset.preventSwipe = "";
    await document.fonts.ready;
    await Reveal.initialize({
      width: 1280,
      height: 720,
      margin: 0,
      center: false,
      hash: true,
      slideNumber: "c/t",
      navigationMode: "linear",
      transition: "none",
      backgroundTransition: "none",
      controlsTutorial: false,
      viewDistance: Infinity, // all are laid out, so all can be fitted at once
      mobileViewDistance: Infinity,
      scrollActivationWidth: null, // a phone turns pages by swiping, too
      pdfSeparateFragments: false,
      // what can be touched has its own arrow keys
      keyboardCondition: (event) => !touched() && !event.defaultPrevented,
      keyboard: { 68: shade },
      plugins: [RevealNotes],
    });
    slides().forEach(fit);
    slides().forEach(watch);
    for (const touch of ["pointerover", "click", "focusin", "keyup"]) document.addEventListener(touch, placeSoon);
    Reveal.on("pdf-ready", () => slides().forEach(fit));
    Reveal.on("slidechanged", ({ currentSlide }) => {
      if (document.activeElement !== document.body) document.activeElement.blur();
      fit(currentSlide);
    });
    document.documentElement.dataset.fitted = "";
  }

  window.addEventListener("load", start);
})();
