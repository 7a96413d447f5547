// Slides are a column that snaps, one a screen: this file parts what does not fit, sets its size, and has the keys.
(() => {
  "use strict";

  const LEAST = 18 / 26; // of the rem: text of 18 pixels on a slide of 1280 x 720
  const LEAST_ON_PAPER = 8 / 26; // it does not scroll, and is held nearer
  const MOST = { "of-formula": 1.5, "of-panel": 1.4, "of-code": 1.2 };
  // What a slide may be parted between; the panels of a chain know each other, and stay together.
  const PARTS = {
    "of-panel": ".byhand-beside:not(.byhand-chain *) > .byhand",
    "of-table": "tbody > tr",
    "of-list": ".fit > * > li",
    "of-code": ".fit > .highlight > pre, .fit > .output",
  };
  const WIDE = "table, svg, img, .byhand, pre, math";
  const SCROLLS =
    ".byhand-scroll, .byhand-parts, .table-wrapper, .text_html, .live-static, div.math, span.math.long, pre";
  // Signs that are smaller than the text they belong to
  const SIGNS = "svg, math, sup, sub, .visually-hidden, .live-spoken, .byhand-live, script, style";
  const TOUCHED = ".live, .byhand, .byhand-chain, summary, a, button, input, select, textarea";

  const slides = () => [...document.querySelectorAll(".slide")];

  // ---------------------------------------------------------------- sizes

  function fits(box, room) {
    const edge = room.getBoundingClientRect().right + 1;
    const wide = [...box.querySelectorAll(WIDE)].some((node) => node.getBoundingClientRect().right > edge);
    const cut = [...box.querySelectorAll(SCROLLS)].some((node) => node.scrollWidth > node.clientWidth + 1);
    return room.scrollHeight <= room.clientHeight + 1 && !wide && !cut;
  }

  // The smallest text of what is shown, in rem
  function smallest(box) {
    let least = 1;
    const texts = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const parent = texts.currentNode.parentElement;
      const seen = texts.currentNode.data.trim() && !parent.closest(SIGNS) && parent.checkVisibility();
      const size = seen && parseFloat(getComputedStyle(parent).fontSize); // 0 hides a label that would stand twice
      if (size) least = Math.min(least, size / parseFloat(getComputedStyle(document.documentElement).fontSize));
    }
    return least;
  }

  // As large as there is room, as small as can be read, then with less air; what does not fit even so scrolls.
  function fit(slide, readable = LEAST) {
    const room = slide.querySelector(".show");
    if (!room) return true;
    const box = room.firstElementChild;
    box.style.zoom = 1;
    box.classList.remove("tight");
    const least = readable / smallest(box);
    for (let zoom = MOST[slide.classList[1]] ?? 1.1; zoom > least; zoom *= 0.96) {
      box.style.zoom = zoom;
      if (fits(box, room)) return true;
    }
    box.style.zoom = least;
    box.classList.add("tight");
    return fits(box, room);
  }

  // The last rows, items, panels or lines move on to a slide of their own until the others fit.
  function part(slide) {
    const parts = [...slide.querySelectorAll(PARTS[slide.classList[1]] ?? "no")];
    if (parts.length < 2 || fit(slide)) return;
    parts.forEach((one, i) => (one.value = one.value || i + 1)); // a list goes on counting
    const places = parts.map((one) => one.parentElement);
    places.forEach((place) => place.setAttribute("data-place", places.indexOf(place)));
    const next = slide.cloneNode(true);
    next.removeAttribute("id");
    next.querySelectorAll(`${PARTS[slide.classList[1]]}, template`).forEach((one) => one.remove());
    slide.after(next);
    do {
      const last = parts.pop();
      next.querySelector(`[data-place="${last.parentElement.dataset.place}"]`).prepend(last);
    } while (parts.length > 1 && !fit(slide));
    part(next);
  }

  // ---------------------------------------------------------------- from slide to slide

  let at = 0;
  let notes;

  function go(to) {
    const all = slides();
    at = Math.min(Math.max(to, 0), all.length - 1);
    all[at].scrollIntoView();
    arrived(all[at]);
    if (document.activeElement !== document.body) document.activeElement.blur();
  }

  function arrived(slide) {
    at = slides().indexOf(slide);
    history.replaceState(null, "", `#${slide.id}`);
    if (notes && !notes.closed) notes.document.body.innerHTML = slide.querySelector("template")?.innerHTML ?? "";
  }

  function openNotes() {
    notes = window.open("", "notes", "width=800,height=600");
    notes.document.title = "Notes";
    notes.document.body.style.font = "1.3rem/1.5 sans-serif";
    notes.document.addEventListener("keydown", keys);
    arrived(slides()[at]);
  }

  // ---------------------------------------------------------------- keys

  const MOVES = { ArrowRight: 1, ArrowDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, Home: -1e9, End: 1e9 };
  const DOES = {
    b: () => document.body.classList.toggle("black"),
    d: () => (document.body.dataset.theme = document.body.dataset.theme === "dark" ? "light" : "dark"),
    f: () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()),
    s: openNotes,
    Escape: () => glance(!glances()),
  };

  // A presenter's remote sends PageUp and PageDown: these move slides wherever the focus is. Escape gives the other
  // keys back to the slides, after a panel has closed its sum.
  function keys(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const remote = { PageDown: 1, PageUp: -1 }[event.key];
    const touched = document.activeElement.closest(TOUCHED);
    if (touched && !remote) {
      if (event.key === "Escape") setTimeout(() => document.activeElement.blur());
      return;
    }
    const move = remote ?? MOVES[event.key];
    if (move) go(at + move);
    else if (DOES[event.key]) DOES[event.key]();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  // All slides at once; the one that is pressed is shown.
  const glances = () => document.documentElement.classList.contains("glance");
  function glance(all) {
    document.documentElement.classList.toggle("glance", all);
    go(at);
  }

  function press(event) {
    if (!glances()) return;
    event.preventDefault();
    event.stopPropagation();
    at = slides().indexOf(event.target.closest(".slide"));
    glance(false);
  }

  // The line with a panel's sum stands at the foot of the screen, or at its head where it would hide what was touched.
  function placeSum() {
    for (const bar of document.querySelectorAll(".byhand-live:not(:empty)")) {
      bar.classList.remove("at-head");
      const entry = bar.parentElement.querySelector("[aria-selected]")?.getBoundingClientRect();
      bar.classList.toggle("at-head", entry?.bottom > bar.getBoundingClientRect().top);
    }
  }

  // ---------------------------------------------------------------- start

  async function start() {
    await document.fonts.ready;
    slides().forEach(part);
    slides().forEach((slide, i) => {
      slide.id ||= `slide-${i + 1}`;
      fit(slide);
    });
    document.addEventListener("keydown", keys, true);
    document.addEventListener("click", press, true);
    for (const touch of ["pointerover", "click", "focusin", "keyup"])
      document.addEventListener(touch, () => requestAnimationFrame(placeSum));
    window.addEventListener("beforeprint", () => slides().forEach((slide) => fit(slide, LEAST_ON_PAPER)));
    window.addEventListener("afterprint", () => slides().forEach((slide) => fit(slide)));
    document.querySelector(location.hash || "body")?.scrollIntoView();
    const seen = new IntersectionObserver(
      (found) => found.filter((one) => one.isIntersecting && !glances()).forEach((one) => arrived(one.target)),
      { threshold: 0.6 },
    );
    slides().forEach((slide) => seen.observe(slide));
    document.documentElement.dataset.fitted = "";
  }

  window.addEventListener("load", start);
})();
