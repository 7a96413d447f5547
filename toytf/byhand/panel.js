/* Panels of toytf.byhand: an entry under mouse, finger or focus lights what it is made of and shows its sum.
   Listeners stand at the document, so panels cost nothing until somebody touches one. Runs any number of times. */
(() => {
  const w = window,
    d = document;
  if (w.toytfPanels) return w.toytfPanels();
  const all = (where, what) => [...where.querySelectorAll(what)];
  const entry = (target) => target.closest && target.closest(".byhand-result tbody td");
  const panelOf = (td) => td.closest(".byhand");
  const chainOf = (td) => td.closest(".byhand-chain");
  const panels = (chain) => all(chain, ".byhand");
  const result = (panel) => panel.querySelector(".byhand-result");
  const cells = (table) => [...table.tBodies[0].rows].map((row) => all(row, "td"));
  const at = (td) => [td.parentNode.sectionRowIndex, all(td.parentNode, "td").indexOf(td)];
  let open = null,
    kept = false,
    trail = [],
    pressed = false;

  // The sums stand in the page once, in the disclosure of the panel or of the whole chain.
  function sum(td) {
    const panel = panelOf(td),
      chain = chainOf(td),
      [i, j] = at(td);
    if (panel.toytfSum) return { innerHTML: panel.toytfSum(i, j) }; // an element of toytf.live writes its panels' sums
    const lines = all(chain || panel, chain ? `[data-k="${panels(chain).indexOf(panel)}"] p` : ".byhand-sums p");
    const named = lines.find((p) => p.dataset.at == `${i}.${j}` || p.dataset.at == i);
    if (named || !lines.length || lines[0].dataset.at) return named;
    const grid = cells(td.closest("table"));
    return lines[lines.length == grid.length ? i : i * grid[0].length + j];
  }

  // The steps of a chain that a panel was made of: "2:i*r:0" is the third one, and what is lit there.
  const origins = (panel) => (panel.dataset.from ? panel.dataset.from.split(" ").map((x) => x.split(":")) : []);
  const touchable = (td) => chainOf(td) || sum(td);
  const text = (row, what) => (row.querySelector(what) || { textContent: "" }).textContent;
  // What a step of a chain is called, and one of its entries: "K₁, Hello, 2 = 8"
  const title = (table) => {
    const box = table.caption || panelOf(table).querySelector(".byhand-title");
    return (
      box.textContent
        .replace(/(^| )\d+ × \d+$/, "")
        .replace(/ = .*/, "")
        .trim() || text(panelOf(table), ".byhand-title")
    );
  };
  function name(td) {
    const table = td.closest("table"),
      head = table.tHead ? all(table.tHead, "th")[at(td)[1]].textContent : "";
    return `${[title(table), text(td.parentNode, "th"), head].filter((x) => x).join(", ")} = ${td.textContent}`;
  }

  // "i*r": row i in the colour of rows; "*jc": column j in that of columns; "ij": the entry's own place
  function light(table, lights, shift, i, j) {
    cells(table).forEach((row, y) =>
      row.forEach((td, x) => {
        for (const [a, b, colour] of lights.split(","))
          if ((a == "*" || y == (a == "i" ? i : j - shift)) && (b == "*" || x == (b == "j" ? j - shift : i))) {
            td.classList.remove("b-r", "b-c");
            td.classList.add("b-" + colour);
          }
      }),
    );
  }

  const unlight = (where) =>
    all(where, ".b-r,.b-c,.b-h,.b-v").forEach((td) => td.classList.remove("b-r", "b-c", "b-h", "b-v"));

  // A sum in the corner of its factors is in nobody's way: it stays until another entry is chosen.
  function close() {
    if (!open) return;
    if (!panelOf(open).matches(".b-cornered")) unlight(chainOf(open) || panelOf(open));
    open.removeAttribute("aria-selected");
    panelOf(open).classList.remove("b-on", "b-kept");
    bar(open).textContent = "";
    open = null;
    kept = false;
  }

  const FACTOR = "\\(−[^()]*\\)|\\[[^\\]]*\\]|[\\d.]+(?: × 10<sup>−?\\d+</sup>)?";
  const PAIR = RegExp(`(${FACTOR})·(${FACTOR})`, "g");

  // The line in which a sum is shown. Under the mouse it lies over what follows, so that nothing moves; one that is
  // kept has its own place, so that what follows can be read.
  function bar(td) {
    const where = panelOf(td);
    let live = where.querySelector(".byhand-live");
    if (!live) {
      live = d.createElement("div");
      live.className = "byhand-live";
      live.setAttribute("aria-live", "polite");
      where.insertBefore(live, where.querySelector(":scope > :is(.byhand-known, .byhand-sums)"));
    }
    return live;
  }

  // Two factors leave a corner empty. There the sum of an entry is written, a term beside each row of the upper one, if
  // there is room; elsewhere it is a line.
  function corner(td) {
    const panel = panelOf(td),
      [parts, above, line] = [
        panel.querySelector(".byhand-parts"),
        panel.querySelector(".b-left ~ * .b-above"),
        sum(td),
      ];
    panel.querySelector(".byhand-corner")?.remove();
    panel.classList.remove("b-cornered");
    if (!above || !line || chainOf(td)) return;
    // The styles reckon with the widest letters. Factors that stand side by side before the styles expect it are set
    // like all that do: without the labels that stand twice, and with room for the end of the sum.
    parts.removeAttribute("style");
    const left = panel.querySelector(".b-left table");
    const aside = left.getBoundingClientRect().right < above.getBoundingClientRect().left;
    if (aside && getComputedStyle(left).display != "flex") parts.style.cssText = "--z: 0";
    const [first, ...more] = line.innerHTML.replace(/^<b>.*?<\/b> /, "").split("\n");
    const terms = first.slice(2).split(" + "),
      values = more.length > 1 ? more[0].slice(2).split(/ \+ | (?=− )/) : [],
      rows = [...above.tBodies[0].rows];
    if (!more.length || terms.length != rows.length) return;
    const beside = panel.querySelector(".b-one .byhand-matrix"),
      box = d.createElement("div"),
      [whole, right] = [parts, result(panel)].map((x) => x.getBoundingClientRect());
    const write = (html, top) => {
      const made = d.createElement("div");
      made.innerHTML = html;
      made.style.cssText = `top:${top - whole.top}px;right:${whole.right - right.left + 14}px`;
      box.append(made);
    };
    box.className = "byhand-corner";
    box.setAttribute("aria-hidden", true); // the line says it
    const equals = [first, ...more].some((step) => step[0] == "≈") ? "≈" : "=";
    const known = values.length == terms.length;
    const room = right.left - (beside ? beside.getBoundingClientRect().right : whole.left) - 20;
    const writeAll = (one) => {
      box.replaceChildren();
      terms.forEach((_, k) => write(one(k), rows[k].getBoundingClientRect().top + 2));
      write(
        `<b>${equals == "≈" ? "≈ " : ""}${more.at(-1).slice(2)}</b>`,
        rows.at(-1).getBoundingClientRect().bottom + 2,
      );
      parts.append(box);
      return [...box.children].every((x) => x.offsetWidth <= room);
    };
    const value = (k) => `<b>${values[k].replace("− ", "−")}</b>`;
    const sign = (k) => (values[k] == "0" && /^0·|·0$/.test(terms[k]) ? "=" : equals); // nothing is rounded there
    const wholeTerm = (k) => terms[k].replace("·", " × ") + (known ? ` ${sign(k)} ${value(k)}` : "");
    // where each factor stands in the same line, the product alone says enough
    if (writeAll(wholeTerm) || (beside && known && writeAll(value))) panel.classList.add("b-cornered");
    else box.remove();
  }

  function hold(keep) {
    kept = keep;
    panelOf(open).classList.toggle("b-kept", Boolean(keep));
  }

  // What an entry is made of is lit, in its panel or in the chain.
  function paint(td) {
    const panel = panelOf(td),
      [i, j] = at(td);
    unlight(chainOf(td) || panel);
    td.classList.add("b-h");
    all(panel, "[data-l]").forEach((t) => light(t, t.dataset.l, t.dataset.s || 0, i, j));
    corner(td);
  }

  function button(label, action) {
    const made = d.createElement("button");
    made.type = "button";
    made.textContent = label;
    made.addEventListener("click", action);
    return made;
  }

  function show(td, keep) {
    const line = sum(td),
      chain = chainOf(td),
      panel = panelOf(td),
      [i, j] = at(td);
    if (!touchable(td)) return false;
    if (td == open && !(keep && chain)) return (hold(kept || keep), true);
    const lit = td.matches(".b-r,.b-c");
    close();
    if (!chain || !lit || !keep) trail = trail.includes(td) && keep ? trail.slice(0, trail.indexOf(td)) : [];
    open = td;
    hold(keep);
    paint(td);
    td.setAttribute("aria-selected", true);
    const sources = origins(panel).map(([k, lights, shift]) => {
      const table = result(panels(chain)[k]);
      light(table, lights, +shift, i, j);
      return table;
    });
    const live = bar(td);
    let html = line
      ? line.innerHTML.replace(/\n/g, " ")
      : `<b>${name(td).replace(/&/g, "&amp;").replace(/</g, "&lt;")}</b>`;
    if (panel.querySelector(".b-left ~ *,.b-above") || /\*[jc]|j\*c/.test(panel.dataset.from))
      html = html.replace(PAIR, "<span class=b-r>$1</span>·<span class=b-c>$2</span>");
    live.innerHTML = html;
    panel.classList.add("b-on");
    if (chain && keep) {
      const way = (label, buttons) => {
        const line = d.createElement("div");
        line.append(label, ...buttons.flatMap((x) => [x, " "]));
        live.append(line);
      };
      const first = (t) => t.querySelector("td:is(.b-r, .b-c)");
      const back = sources.map((t) => button(title(t), () => go(first(t), true)));
      if (back.length) way("Made of ", back);
      else live.append(" The way ends here.");
      if (trail.length)
        way(
          "Back to ",
          [...trail].reverse().map((x) => button(name(x), () => go(x))),
        );
      way("", [button("Close", close)]);
      trail.forEach((x) => x.classList.add("b-v"));
      trail.push(td);
    }
    return true;
  }

  // Open what hides an entry, without moving what is looked at; then show it.
  function reveal(td, still) {
    const before = still && still.getBoundingClientRect().top;
    for (let up = td; (up = up.parentElement);) if (up.tagName == "DETAILS") up.open = true;
    if (still) w.scrollBy(0, still.getBoundingClientRect().top - before);
  }
  function go(td, only) {
    reveal(td);
    if (!only) show(td, true);
    focus(td);
  }

  function walk(td, key) {
    const table = td.closest("table"),
      grid = cells(table);
    const turned = getComputedStyle(table).display == "flex";
    let [i, j] = at(td);
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[key];
    const found = (row, ...js) => js.map((x) => row[x]).find((x) => x && touchable(x));
    if (key == "Home") return found(grid[i], ...grid[i].keys());
    if (key == "End") return found(grid[i], ...[...grid[i].keys()].reverse());
    if (turned) step.reverse();
    do {
      i += step[0];
      j += step[1];
      if (!grid[i] || !grid[i][j]) return;
    } while (!touchable(grid[i][j]));
    return grid[i][j];
  }

  function focus(td) {
    all(td.closest("table"), "[tabindex='0']").forEach((x) => (x.tabIndex = -1));
    td.tabIndex = 0;
    td.focus({ preventScroll: true });
    td.scrollIntoView({ block: "nearest", inline: "nearest" });
    // below the last line on the screen the sum would open out of sight
    if (open == td) bar(td).scrollIntoView({ block: "nearest" });
  }

  // Once more puts it away.
  function keep(td) {
    if (td == open && kept) return close();
    if (!show(td, true)) return;
    focus(td);
    origins(panelOf(td)).forEach(([k]) => reveal(result(panels(chainOf(td))[k]), td));
  }

  d.addEventListener("pointerover", (e) => {
    if (e.pointerType == "touch" || kept) return;
    const td = entry(e.target);
    if (td) show(td);
    else if (open && open != d.activeElement && !(e.target.closest && e.target.closest(".byhand-live"))) close();
  });
  // A press gives focus before it is a click: what it opens, the click says.
  d.addEventListener("pointerdown", () => (pressed = true));
  d.addEventListener("click", (e) => {
    pressed = false;
    const td = entry(e.target);
    if (!td) return;
    keep(td);
  });
  d.addEventListener("focusin", (e) => {
    const td = entry(e.target);
    if (td) td.dataset.lmSuppressShortcuts = ""; // JupyterLab leaves the keys alone
    if (td && !pressed && !(kept && chainOf(td))) show(td, kept);
  });
  d.addEventListener("focusout", (e) => {
    if (entry(e.target) && !kept) close();
  });
  d.addEventListener("keydown", (e) => {
    pressed = false;
    if (e.key == "Escape") return close();
    const td = entry(e.target);
    if (!td || e.altKey || e.ctrlKey || e.metaKey) return;
    if (e.key == "Enter" || e.key == " ") {
      e.preventDefault();
      return keep(td);
    }
    if (!/^(Arrow|Home$|End$)/.test(e.key)) return;
    e.preventDefault();
    const next = walk(td, e.key);
    if (next) focus(next);
  });

  // New numbers in a panel: what is open follows, and the sum in its corner.
  d.addEventListener("toytf-changed", (e) => {
    const lit = e.target.querySelector(".byhand-result .b-h");
    if (!open || panelOf(open) != e.target) return void (lit && corner(lit));
    const [td, held] = [open, kept];
    close();
    show(td, held);
  });

  // #panel-3.0.2 opens that entry
  function follow() {
    const [, id, i, j] = /^#(.+?)\.(\d+)(?:\.(\d+))?$/.exec(location.hash) || [];
    const table = id && d.getElementById(id) && d.getElementById(id).querySelector(".byhand-result");
    const td = table && (cells(table)[i] || [])[j || 0];
    if (!td) return;
    reveal(td);
    if (!show(td, true)) td.classList.add("b-h");
    td.scrollIntoView({ block: "center" });
  }
  w.addEventListener("hashchange", follow);

  // What the sums make of a table: a grid with one tab stop.
  function prepare(part) {
    if (part.matches(".byhand-chain")) {
      if (!part.querySelector(".byhand-part:not([open])") || part.querySelector(".byhand-all")) return;
      const opener = button("Open all", () => {
        const open = opener.textContent === "Open all";
        all(part, ".byhand-part").forEach((x) => (x.open = open));
        opener.textContent = open ? "Close all" : "Open all";
      });
      opener.className = "byhand-all";
      return part.prepend(opener);
    }
    const table = part.querySelector(".byhand-result:not([role])");
    const tds = table ? cells(table).flat().filter(touchable) : [];
    if (!tds.length) return;
    table.setAttribute("role", "grid");
    tds.forEach((td, k) => (td.tabIndex = k ? -1 : 0));
    if (part.querySelector(".b-left ~ * .b-above") && !chainOf(part)) near.observe(part);
  }

  // Before anybody has chosen, the largest entry of a product shows its sum, where there is a corner for it.
  const near = new IntersectionObserver(
    (seen) =>
      seen.forEach(({ target, isIntersecting }) => {
        if (!isIntersecting) return;
        near.unobserve(target);
        if (target.querySelector(".b-h")) return;
        const size = (td) => Math.abs(parseFloat(td.textContent.replace("\u2212", "-"))) || 0;
        const tds = cells(result(target)).flat().filter(touchable);
        const largest = tds.reduce((best, td) => (size(td) > size(best) ? td : best));
        paint(largest);
        if (!target.matches(".b-cornered")) unlight(target);
      }),
    { rootMargin: "300px" },
  );
  let later;
  w.addEventListener("resize", () => {
    clearTimeout(later);
    later = setTimeout(() => all(d, ".b-cornered .byhand-result .b-h").forEach(corner), 150);
  });

  // Left until the page has been shown, and one at a time: nobody has to wait for them.
  const idle = w.requestIdleCallback || setTimeout;
  w.toytfPanels = () => all(d, ".byhand-chain,.byhand").forEach((part) => idle(() => prepare(part), { timeout: 1000 }));
  const begin = () => {
    w.toytfPanels();
    follow();
  };
  if (d.readyState == "loading") d.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
