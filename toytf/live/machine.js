// The machine: a whole small Transformer, each of its numbers in a cell that can be changed. Beside machine.py.
import { onPage, shown, fixed, trimmed, isLong, isExact, powerOfTen } from "./engine/numbers.js";
import { order } from "./engine/generate.js";
import { button, html, named } from "./page/make.js";
import { number, choice, toggle, own } from "./page/settings.js";
import { Live, define, listed } from "./page/element.js";
import { Panel, Bars } from "./page/tables.js";
import { cellsByName, computed } from "./machine_steps.js";
import { fit, widen, Weights, readCell } from "./machine_cells.js";

// The largest change of a step's numbers; what is new is none
const largestChange = (now, before) =>
  Math.max(
    0,
    ...now.flatMap((row, i) =>
      row.map((value, j) =>
        before?.[i]?.[j] === undefined || Object.is(value, before[i][j]) ? 0 : Math.abs(value - before[i][j]),
      ),
    ),
  );
const isWhole = ({ value, hides }) => value.flat().every((x) => Number.isFinite(x) || (hides && x === -Infinity));
// A change so small that four decimals do not show it is no zero
const tiny = (x) => x !== 0 && Math.abs(x) < 5e-5;
const amount = (x) => (tiny(x) ? powerOfTen(x, 1) : shown(x));
const rounded = (x) => (tiny(x) || isLong(x) || !isExact(x, trimmed(x, 4)) ? "≈ " : "");
const signed = (x) => `${rounded(x)}${x > 0 ? "+" : ""}${amount(x)}`;
// Two numbers with so many decimals, four or more, that one sees that they differ: [words], or null
function apart(a, b, write, most) {
  for (let decimals = 4; decimals <= most; decimals += 1) {
    const pair = [write(a, decimals), write(b, decimals)];
    if (pair[0] !== pair[1]) return pair;
  }
  return null;
}

// ---------------------------------------------------------------- the page

class Machine extends Live {
  // The translator's `toytf.trained`, and sentence.js, are only where it is, and may come later than this script.
  settings(data) {
    const { start, positions, until, matrices } = data;
    for (const [name, path] of Object.entries(matrices)) {
      if (typeof path === "string")
        matrices[name] = path.split(".").reduce((part, key) => part[key], toytf.trained.params);
    }
    const most = data.most ? data.most + 1 : data.target.length;
    const counts = Array.from({ length: most }, (_, n) => [n + 1, ""]);
    const read = {
      ...(data.most && {
        sentence: toytf.sentence({
          ...data,
          label: "An English sentence",
          start: data.sentence,
          nothing: "Type a word.",
        }),
      }),
      target: choice({ label: "the target so far", start: "1", options: Object.fromEntries(counts) }),
    };
    const onlyWhole = {
      residual: toggle({ label: "residual: add what went in", start: true }),
      norm: choice({ label: "norm", start: "post", options: { post: "after", pre: "before", none: "none" } }),
      mask: toggle({ label: "mask: no look ahead", start: true }),
    };
    const cells = Object.entries(matrices).flatMap(([name, array]) => cellsByName(name, array));
    const published = data.tables.published && { published: "as published" };
    const tables = { paper: "as in the paper", ...published, none: "none" };
    const ways = { safe: "largest subtracted", naive: "as usually typed" };
    const ofHeads = {
      positions: choice({ label: "positions", start: positions, options: tables }),
      divisor: number({ label: "scores divided by", start, from: 0.1, to: 1000, scale: "log" }),
      softmax: choice({ label: "softmax", start: "safe", options: ways }),
    };
    return {
      ...(until ? {} : read),
      ...(until === "rules" ? {} : ofHeads),
      ...(until ? {} : onlyWhole),
      ...Object.fromEntries(cells.map(([name, value]) => [name, own({ start: value, read: readCell, write: String })])),
    };
  }

  // A link's mistake is answered with the names of the switches: there are hundreds of cells.
  names() {
    const [all, isCell] = [Object.keys(this.can), (name) => name.includes(".")];
    const cell = all.find((name) => /\.w_/.test(name));
    return `${all.filter((name) => !isCell(name)).join(", ")}, or a cell such as ${cell}`;
  }

  take({ cells, until, decimals }) {
    const table = this.querySelector(".live-bars");
    this.bars = until ? null : new Bars(table);
    const nodes = [...this.querySelectorAll("[data-step]")];
    this.panels = new Map(
      nodes.map((node) => [node.dataset.step, new Panel(node, { decimals, sci: /\.A\d$/.test(node.dataset.step) })]),
    );
    this.order = [...this.panels.keys()];
    this.formulas = new Map(nodes.map((node) => [node.dataset.step, formulaOf(node, this.order)]));
    this.parts = [...this.querySelectorAll(".byhand-part")].map((node) => {
      const size = html("span", { class: "live-size" });
      node.querySelector("summary").append(" ", size);
      node.addEventListener("toggle", () => node.open && this.paint(node));
      return { node, size, keys: [...node.querySelectorAll("[data-step]")].map(({ dataset }) => dataset.step) };
    });
    addEventListener("beforeprint", () => this.parts.forEach(({ node }) => this.paint(node))); // paper shows them all
    this.labels = {}; // of every cell, by its name
    this.grids = Object.entries(cells).map(([key, blocks]) =>
      Object.assign(new Weights(this, this.panels.get(key), blocks), { key }),
    );
    for (const grid of this.grids) Object.assign(this.labels, (grid.labels = grid.allLabels()));
    this.firsts = {}; // what is computed of the unchanged numbers, by the target
  }

  build() {
    super.build();
    this.list = html("ul", { class: "live-list" });
    const heading = html("p", {}, "Changed numbers:");
    this.changes = html("div", { class: "live-changes", hidden: true }, heading, this.list);
    this.querySelector(".live-sentence:not([data-setting])")?.remove(); // the field takes its place
    this.controls.after(this.changes, this.said, this.complaint);
  }

  // A link opens the steps whose numbers it names, and the first step that moves.
  follow() {
    const before = this.state;
    super.follow();
    if (this.state === before) return; // the link was for another
    const changed = (name) => !Object.is(this.state[name], this.can[name].start);
    const named = this.grids.filter(({ labels }) => Object.keys(labels).some(changed));
    const parts = this.parts.filter(({ keys }) => named.some(({ key }) => keys.includes(key)));
    const first = this.parts.find(({ size }) => size.textContent);
    for (const { node } of first ? [...parts, first] : parts) node.open = true;
  }

  // Everything is compared with the unchanged machine that reads the same words.
  unchanged() {
    const key = JSON.stringify(this.read.words);
    this.firsts[key] ??= computed(this.data, this.begin(), this.read);
    return this.firsts[key];
  }

  // The words on both sides, and their rows among the embeddings. The decoder reads what the unchanged translator
  // writes; where no word can be read, those before stay.
  reads({ sentence: text, target }) {
    const { data } = this;
    const words = text === undefined || text === this.text ? [] : toytf.reading(text, data).words;
    if (words.length) {
      const written = [...toytf.trained.steps(words)].slice(0, -1).map(({ token }) => token);
      const ids = [toytf.trained.ends.sos, ...written].slice(0, data.most + 1);
      Object.assign(data, { source: words, target: ids.map((id) => data.vocabularies.target[id]) });
    }
    this.text = text;
    const { target: options } = this.can;
    options?.name(data.target.map((word, n) => (n > 2 ? `… ${word}` : data.target.slice(0, n + 1).join(" "))));
    return this.reading(data.source, data.target.slice(0, Number(target ?? 1)));
  }

  reading(source, target) {
    const { vocabularies } = this.data;
    const ids = (words, side) => words.map((word) => vocabularies[side].indexOf(word));
    return { words: { source, target }, ids: { source: ids(source, "source"), target: ids(target, "target") } };
  }

  show(state) {
    this.read = this.reads(state);
    this.first = this.unchanged();
    const changed = (name) => !Object.is(state[name], this.can[name].start);
    this.changed = Object.keys(this.labels).filter(changed);
    this.switched = ["positions", "divisor", "softmax", "residual", "norm", "mask"].filter(
      (name) => name in this.can && changed(name),
    );
    const moved = this.changed.length + this.switched.length > 0;
    this.steps = moved ? computed(this.data, state, this.read) : this.first;
    for (const [key, panel] of this.panels) panel.node.hidden = !this.steps.has(key);
    let broken = null;
    for (const { node, size, keys } of this.parts) {
      const there = keys.filter((key) => this.steps.has(key));
      const bad = there.find((key) => !isWhole(this.steps.get(key)));
      const changes = there.map((key) => largestChange(this.steps.get(key).value, this.first.get(key)?.value));
      const largest = Math.max(0, ...changes);
      let text = largest > 0 ? `largest change ${rounded(largest)}${amount(largest)}` : "";
      if (bad) {
        text = broken ? "NaN or ∞ comes in" : "NaN or ∞ arises here";
        broken ??= { key: bad, name: node.querySelector("summary").firstChild.textContent.trim() };
      }
      if (size.textContent !== text) size.textContent = text;
      size.classList.toggle("live-nan", Boolean(bad));
      if (node.open) this.paint(node);
    }
    this.broken = broken;
    this.listChanges();
    if (!this.bars) return;
    const { top, vocabularies } = this.data;
    const p = this.steps.get("out.p").value.at(-1);
    const at = top ? order(p).slice(0, top) : undefined;
    this.bars.set(p, { at, names: vocabularies.target, lit: p.indexOf(Math.max(...p)) });
    this.bars.table.caption.textContent = `The next word after ${this.read.words.target.at(-1)}`;
    this.met = moved ? this.fulfilled(state) : [];
    for (const name of this.met) this.querySelector(`[data-task=${name}]`).classList.add("live-done");
  }

  // Which tasks are done with the numbers of now
  fulfilled(state) {
    const { data, changed, read } = this;
    const [now, then] = [this.steps, this.first].map((steps) => {
      const row = steps.get("out.p").value.at(-1);
      return data.vocabularies.target[row.indexOf(Math.max(...row))];
    });
    const hola = changed.length === 1 && !this.switched.length && now === "hola" && then !== "hola";
    // mended: the same numbers, of which one is changed, and the same words, but no NaN
    const numbers = JSON.stringify([changed.map((name) => [name, state[name]]), read.words]);
    if (this.broken) this.overflown = numbers;
    const overflow = !this.broken && changed.length > 0 && numbers === this.overflown;
    const { source, target } = read.words;
    const same = (others) => {
      const logits = computed(data, state, this.reading(others, target)).get("out.logits").value;
      return largestChange(this.steps.get("out.logits").value, logits) < 1e-9;
    };
    const order = !this.broken && same([...source.slice(1), source[0]]) && !same(source.map(() => source[0]));
    return Object.entries({ hola, overflow, order }).flatMap(([name, is]) => (is ? [name] : []));
  }

  // The panels of one step of the way; those of closed ones wait until they are opened.
  paint(node) {
    for (const { keys } of this.parts.filter((part) => part.node === node)) {
      for (const key of keys) if (this.steps.has(key)) this.paintStep(key, this.panels.get(key), this.steps.get(key));
    }
  }

  // "U WQ₁" becomes "N₁ WQ₁" where a switch has put another step before this one.
  entitle(key, { from, divisor }) {
    const { text, made } = this.formulas.get(key);
    if (!text) return;
    let formula = text;
    from.forEach(([of], k) => {
      const [old, now] = [made[k], of].map((one) => one && nameOf(this.panels.get(one)));
      if (!old || old === now) return;
      const alone = !now.includes(" ") || formula.includes(`(${old})`);
      formula = formula.replace(old, alone ? now : `(${now})`);
    });
    if (divisor) formula = formula.replace(/\/ .*/, `/ ${divisor}`);
    const title = this.panels.get(key).node.querySelector(".byhand-title").firstChild; // its shape follows
    const all = `${nameOf(this.panels.get(key))} = ${formula}`;
    if (title.textContent !== all) title.replaceChildren(...named(all));
  }

  paintStep(key, panel, { value, from, sum, rows, cols, ...more }) {
    const before = this.first.get(key)?.value;
    const grid = this.grids.find((one) => one.panel === panel);
    fit(panel.result, rows, cols, value[0].length);
    panel.rows = rows;
    if (cols) panel.cols = cols;
    panel.node.dataset.from = from
      .map(([of, lights, shift = 0]) => `${this.order.indexOf(of)}:${lights}:${shift}`)
      .join(" ");
    this.entitle(key, { from, ...more });
    widen(panel, rows, value);
    if (grid) grid.paint();
    panel.set({
      result: value,
      start: value.map((row, i) => row.map((x, j) => before?.[i]?.[j] ?? x)),
      sum: (where, i, j) => sum(where, i, j) + was(value[i][j], before?.[i]?.[j]),
    });
  }

  listChanges() {
    this.changes.hidden = !this.changed.length;
    this.list.replaceChildren(
      ...this.changed.map((name) => {
        const [label, was, is] = [this.labels[name], this.can[name].start, this.state[name]];
        const back = button("Put back", () => this.putBack(name), { "aria-label": `Put back ${label}` });
        return html("li", {}, `${label}: ${onPage(String(was))} → ${onPage(String(is))} `, back);
      }),
    );
  }

  putBack(name) {
    const at = [...this.list.children].findIndex((item) => item.contains(document.activeElement));
    this.change({ [name]: this.can[name].start });
    // the button is gone: the next one takes its place, or the way back to the start
    const buttons = [...this.list.querySelectorAll("button")];
    (buttons[at] ?? buttons.at(-1) ?? this.querySelector(".live-reset")).focus();
  }

  say({ mask }) {
    if (this.broken) {
      const { name, key } = this.broken;
      return `In “${name}”, ${nameOf(this.panels.get(key))} has NaN or ∞, and so it goes on from there.`;
    }
    if (this.data.until) return this.data.until === "rules" ? this.sayRules() : this.sayWeights();
    const tasks = this.met.map((name) => ` ✓ Done: ${this.querySelector(`[data-task=${name}] b`).textContent}.`);
    return this.sayNext(mask) + tasks.join("");
  }

  // "Hello gives World 0.7756 (was 1.0000)", and so for each row: two lines on a phone, where they stay in sight
  sayWeights() {
    const { source } = this.data;
    const [now, then] = [this.steps, this.first].map((steps) => steps.get("enc.att.A1").value);
    const said = now.map((a, i) => {
      const { best, first, words, moved } = compared(a, then[i]);
      const was = moved ? ` (was ${best === first ? "" : `${source[first]} `}${words[1]})` : "";
      return `${source[i]} gives ${source[best]} ${words[0]}${was}`;
    });
    return `${said.join("; ")}.`;
  }

  // "Rule 1 holds for “it”; rule 2 holds for no word."
  sayRules() {
    const { value, rows } = this.steps.get("enc.hidden");
    const said = value[0].map((_, j) => {
      const on = rows.filter((_, i) => value[i][j] > 0).map((word) => `“${word}”`);
      return `rule ${j + 1} holds for ${on.length ? listed(on) : "no word"}`;
    });
    return `R${said.join("; ").slice(1)}.`;
  }

  // "After “SOS”, the most probable word is “EOS” with 0.2358; before it was 0.2372."
  sayNext(mask) {
    const { target } = this.read.words;
    const [n, vocabulary] = [target.length, this.data.vocabularies.target];
    const [now, then] = [this.steps, this.first].map((steps) => steps.get("out.p").value);
    const after = (i) => {
      const { best, first, words, moved } = compared(now[i], then[i]);
      const other = best === first ? "" : `“${vocabulary[first]}” with `;
      const size = largestChange([now[i]], [then[i]]);
      const little = size ? `; the probabilities move by at most ${rounded(size)}${amount(size)}` : "";
      const was = moved ? `; before it was ${other}${words[1]}` : little;
      return (
        `after “${target.slice(0, i + 1).join(" ")}”, the most probable word is ` +
        `“${vocabulary[best]}” with ${words[0]}${was}.`
      );
    };
    const said = after(n - 1).replace("a", "A");
    if (mask) return said;
    if (n === 1) return `${said} With one word the mask has nothing to hide: let the decoder read more.`;
    const moves = now.slice(0, -1).map((row, i) => largestChange([row], [then[i]]));
    const ahead =
      n > 2
        ? `The rows of ${listed(target.slice(0, n - 1))} now look ahead`
        : `The row of ${target[0]} now looks ahead`;
    return `${said} The last row sees every word anyway, with a mask or without. ${ahead}: ${after(
      moves.indexOf(Math.max(...moves)),
    )}`;
  }
}

// The largest number of a row, now and in the unchanged row: where they stand, and in words that show what moved
function compared(now, then) {
  const [best, first] = [now, then].map((row) => row.indexOf(Math.max(...row)));
  const pair = apart(now[best], then[first], fixed, 8);
  return {
    best,
    first,
    words: pair ?? [now[best], then[first]].map((x) => fixed(x, 4)),
    moved: pair !== null || best !== first,
  };
}

// "Q₁"
function nameOf(panel) {
  return panel.node.querySelector(".byhand-title").firstChild.textContent.split(" = ")[0];
}

// The formula in a panel's title as Python wrote it, and the steps that it names
function formulaOf(node, order) {
  const [, text] = node.querySelector(".byhand-title").firstChild.textContent.split(" = ");
  const made = (node.dataset.from ?? "")
    .split(" ")
    .filter((one) => one)
    .map((one) => order[parseInt(one, 10)]);
  return { text, made };
}

// " (was 8: +0.2)"; where both would be the same word, " (0.23721, was 0.23718: ≈ +3.1 × 10⁻⁵)"
function was(value, before) {
  if (before === undefined || Object.is(value, before)) return "";
  const change = value - before;
  const size = Number.isFinite(change) ? signed(change) : "no number now";
  const [now, then] = apart(value, before, shown, 12) ?? [null, null];
  const here = now !== null && now !== shown(value) ? `${now}, ` : "";
  return ` <span class="live-was">(${then === null ? "moved" : `${here}was ${then}`}: ${size})</span>`;
}

define("machine", Machine);
