// The two switches at the top, code and light or dark; boxes that scroll can be reached from the keyboard; paper shows
// everything; a link from the search lights the number that it leads to. Without this script everything can be read.
(() => {
  "use strict";

  const root = document.documentElement;

  // What the reader chose is kept, where the browser keeps anything.
  function remember(name, value) {
    try {
      localStorage.setItem(name, value);
    } catch {}
  }

  // All code, or the code that is taught. What is looked at stays where it is.
  function showCode(on) {
    root.dataset.code = on ? "on" : "off";
    document.querySelector(".code-switch")?.setAttribute("aria-checked", on);
  }
  function switchCode() {
    const on = root.dataset.code === "off";
    const seen = [...document.querySelectorAll("article :is(h2, h3, p, figure)")].find(
      (box) => box.getBoundingClientRect().top > 0,
    );
    const top = seen?.getBoundingClientRect().top;
    showCode(on);
    remember("code", on ? "on" : "off");
    if (seen) window.scrollBy(0, seen.getBoundingClientRect().top - top);
  }

  function switchTheme() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.body.dataset.theme;
    const next = (now === "auto" ? dark : now === "dark") ? "light" : "dark";
    document.body.dataset.theme = next;
    remember("theme", next);
  }

  // Where we are on the wire is in sight; the contents close when one turns away from them.
  function prepareFrame() {
    const wire = document.querySelector(".strip ol");
    const here = wire?.querySelector(".here");
    // A word that is not whole in sight is not there; the line that leads to it fades.
    const trim = () => {
      const back = Math.min(12, wire.scrollLeft);
      const [left, right] = [wire.scrollLeft + back - 1, wire.scrollLeft + wire.clientWidth - 16];
      wire.style.setProperty("--back", `${back}px`);
      for (const part of wire.children) {
        part.classList.toggle("cut", part.offsetLeft < left || part.offsetLeft + part.offsetWidth > right);
      }
    };
    if (wire) new ResizeObserver(trim).observe(wire);
    wire?.addEventListener("scroll", trim);
    if (here) {
      // in the middle, or a little to the left of it: the first word in sight is whole
      const left = here.offsetLeft - Math.max(0, wire.clientWidth - here.offsetWidth) / 2;
      wire.scrollLeft = [...wire.children].find((part) => part.offsetLeft >= left).offsetLeft - 12;
    }
    showCode(root.dataset.code === "on");
    document.querySelector(".code-switch")?.addEventListener("click", switchCode);
    document.querySelector(".theme-toggle")?.addEventListener("click", switchTheme);
    const contents = document.querySelector(".contents");
    const close = () => contents.removeAttribute("open");
    document.addEventListener("click", ({ target }) => {
      if (!contents.contains(target) || target.closest(".contents-box a")) close();
    });
    document.addEventListener("keydown", ({ key }) => {
      if (key === "Escape" && contents.open) {
        close();
        contents.firstElementChild.focus();
      }
    });
  }

  // Beside the page its sections stay in sight, with the one that is read lit, unless something else stands there.
  function followSections() {
    const list = document.querySelector(".beside:has(~ main > :not(.front)) .on-page");
    const tall = list?.offsetHeight + 100; // with the bar above it, and air below
    if (!list?.offsetHeight || tall > innerHeight) return;
    list.style.height = `${list.offsetHeight}px`; // its place is kept
    const there = new Set();
    const watch = new IntersectionObserver(
      (changes) => {
        for (const { target, isIntersecting } of changes) there[isIntersecting ? "add" : "delete"](target);
        list.classList.toggle("stays", there.size === 0);
      },
      { rootMargin: `-76px 0px ${tall - innerHeight}px` },
    );
    document.querySelectorAll(`.beside, article :is(${BESIDE})`).forEach((box) => {
      watch.observe(box);
    });
    const read = new IntersectionObserver(
      (changes) => {
        for (const { target, isIntersecting } of changes) {
          list.querySelector(`[href="#${target.id}"]`).classList.toggle("here", isIntersecting);
        }
      },
      { rootMargin: "-25% 0px -75%" },
    );
    document.querySelectorAll("article > section > section[id]").forEach((section) => {
      read.observe(section);
    });
  }
  const BESIDE =
    ".margin, .tag_margin, .b-shapes, .short-code, .cell:has(toytf-machine, .byhand-chain, .questions, .walk, .toytf-figure span + span)";

  // Whoever has only a keyboard scrolls a box by focusing it first.
  const BOXES = "pre, div.math, span.math.long, .text_html, .table-wrapper, [class*=scroll]";

  const WIDER = "Wider than its box: scroll sideways";

  // First all that is read, then all that is written: so much is laid out once.
  function markWide(boxes) {
    const sizes = boxes.map((box) => [box, box.scrollWidth > box.clientWidth]);
    for (const [box, wide] of sizes) {
      if (wide) {
        box.tabIndex = 0;
        box.role ??= "group";
        box.ariaLabel ??= WIDER;
      } else {
        box.removeAttribute("tabindex");
        if (box.ariaLabel === WIDER) box.role = box.ariaLabel = null;
      }
    }
  }

  // A box is looked at when it comes near, and again when its size changes: the browser lays out
  // what is far away only then (content-visibility in toytf.css).
  function watchBoxes() {
    const sized = new ResizeObserver((changes) =>
      requestAnimationFrame(() => {
        markWide(changes.map(({ target }) => target));
      }),
    );
    const near = new IntersectionObserver(
      (changes) =>
        changes.forEach(({ target, isIntersecting }) => {
          if (!isIntersecting) return;
          near.unobserve(target);
          sized.observe(target);
        }),
      { rootMargin: "600px" },
    );
    for (const box of document.querySelectorAll(`article :is(${BOXES})`)) {
      near.observe(box);
    }
  }

  // Where a link leads must stay in sight while the sections near it get their size, unless the reader moves on.
  let holding = 0;
  const letGo = () => {
    holding = 0;
  };
  function hold(target) {
    const until = performance.now() + 1000;
    const top = target.getBoundingClientRect().top;
    holding = until;
    const again = () => {
      if (holding !== until || performance.now() > until) return;
      const moved = target.getBoundingClientRect().top - top;
      if (Math.abs(moved) > 1) window.scrollBy(0, moved);
      requestAnimationFrame(again);
    };
    again();
  }
  function holdTarget() {
    const target = document.querySelector(":target");
    const panel = document.getElementById(location.hash.slice(1).split(".")[0]); // panel.js has gone to the entry
    target?.scrollIntoView();
    if (target ?? panel) hold(target ?? panel);
  }

  // Paper has no triangles to press.
  function preparePrint() {
    const closed = document.querySelectorAll("article details:not(.hide:not(.below-input), [open])");
    closed.forEach((details) => {
      details.open = true;
    });
    window.addEventListener(
      "afterprint",
      () => {
        closed.forEach((details) => {
          details.open = false;
        });
      },
      { once: true },
    );
  }

  // #number=0.2244&in=softmax&nth=2 leads to the second 0.2244 of the section softmax.
  // book/_ext/toytf_numbers.py counts the same way.
  function showNumber() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const number = asked.get("number");
    const section = document.getElementById(asked.get("in") ?? "");
    if (!number || !section) return;
    // an exercise or a solution is a box around a section
    const inside = section.matches("section") ? null : section.querySelector(":scope > section");
    const mine = inside ?? section.closest("section");
    const texts = document.createTreeWalker(mine, NodeFilter.SHOW_TEXT);
    const pattern = new RegExp(`(?<![\\d."])${number.replaceAll(".", "\\.")}(?![\\d.]*\\d|e)`, "g");
    let left = Number(asked.get("nth") ?? 1);
    let found = null;
    while (left > 0 && texts.nextNode()) {
      const text = texts.currentNode;
      const parent = text.parentElement;
      if (
        parent.closest("section") !== mine ||
        parent.closest(".cell_input, .byhand, .byhand-chain [data-k], script, style, annotation")
      )
        continue;
      for (const match of text.data.replaceAll("\u2212", "-").matchAll(pattern)) {
        found = [text, match.index];
        left -= 1;
        if (left === 0) break;
      }
    }
    if (!found) {
      mine.scrollIntoView();
      return;
    }
    light(found[0], found[1], number.length);
  }

  function light(text, start, length) {
    const parent = text.parentElement;
    for (let box = parent.closest("details"); box; box = box.parentElement.closest("details")) {
      box.open = true;
    }
    if (parent.closest(".more-code")) showCode(true);
    const line = parent.closest("p, li, tr, pre, figure, svg, dd, summary") ?? parent;
    parent.scrollIntoView({ block: "center" });
    hold(parent);
    line.classList.remove("toytf-found");
    void line.getBoundingClientRect(); // so that the animation starts again
    line.classList.add("toytf-found");
    if (window.Highlight && CSS.highlights) {
      const range = new Range();
      range.setStart(text, start);
      range.setEnd(text, start + length);
      CSS.highlights.set("toytf-number", new Highlight(range));
    }
  }

  function start() {
    watchBoxes();
    followSections();
    window.addEventListener("beforeprint", preparePrint);
    for (const button of document.querySelectorAll(".print-page")) {
      button.addEventListener("click", () => window.print());
    }
    for (const moved of ["wheel", "touchstart", "pointerdown", "keydown"]) {
      window.addEventListener(moved, letGo, { passive: true });
    }
    for (const follow of [holdTarget, showNumber]) {
      window.addEventListener("hashchange", follow);
      follow();
    }
  }

  prepareFrame(); // the script is deferred: the page is there
  window.addEventListener("load", start);
})();
