// The machine: a whole small Transformer, each of its numbers in a cell that can be changed. Beside machine.py.
(() => {
  "use strict";
  const { Live, Panel, Bars, define, html, number, choice, toggle, own, onPage, shown, fixed, machine } = toytf;
  const { cellsOf, filledIn, parameters, computed, fit, widen, Weights, readCell } = machine;

  // The largest change of a step's numbers; what is new is none
  const largestChange = (now, before) => Math.max(0, ...now.flatMap((row, i) => row.map((value, j) => (
    before?.[i]?.[j] === undefined || Object.is(value, before[i][j]) ? 0 : Math.abs(value - before[i][j])))));
  const isWhole = ({ value, hides }) => value.flat().every((x) => Number.isFinite(x) || (hides && x === -Infinity));
  const signed = (x) => `${x > 0 ? "+" : ""}${amount(x)}`;
  // A change so small that four decimals do not show it is no zero
  const amount = (x) => (x !== 0 && Math.abs(x) < 5e-5 ? onPage(x.toExponential(1)) : shown(x));

  // ---------------------------------------------------------------- the page

  class Machine extends Live {
    settings({ start, positions, until, target, matrices }) {
      const onlyWhole = until ? {} : {
        residual: toggle({ label: "residual: add what went in", start: true }),
        norm: choice({ label: "norm", start: "post", options: { post: "after", pre: "before", none: "none" } }),
        mask: toggle({ label: "mask: no look ahead", start: true }),
      };
      const read = until ? {} : {
        target: choice({ label: "the target so far", start: "1",
          options: Object.fromEntries(target.map((_, n) => [String(n + 1), target.slice(0, n + 1).join(" ")])) }),
      };
      return {
        ...read,
        positions: choice({ label: "positions", start: positions,
          options: { paper: "as in the paper", published: "as published", none: "none" } }),
        divisor: number({ label: "scores divided by", start, from: 0.1, to: 1000, scale: "log" }),
        softmax: choice({ label: "softmax", start: "safe", 
          options: { safe: "largest subtracted", naive: "as usually typed" } }),
        ...onlyWhole,
        ...Object.fromEntries(Object.entries(matrices).flatMap(([name, array]) => cellsOf(name, array))
          .map(([name, value]) => [name, own({ start: value, read: readCell, write: String })])),
      };
    }

    // A link's mistake is answered with the names of the switches: there are hundreds of cells.
    names() {
      return `${Object.keys(this.can).filter((name) => !name.includes(".")).join(", ")}, or a cell such as `
        + `${Object.keys(this.can).find((name) => name.includes("w_q"))}`;
    }

    take({ cells, until }) {
      const table = this.querySelector(".live-bars");
      this.bars = until ? null : new Bars(table);
      const nodes = [...this.querySelectorAll("[data-step]")];
      this.panels = new Map(nodes.map((node) => [node.dataset.step, new Panel(node)]));
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
      this.grids = Object.entries(cells).map(([key, blocks]) => new Weights(this, this.panels.get(key), blocks));
      for (const grid of this.grids) Object.assign(this.labels, grid.allLabels());
      this.first = this.compute(this.state);
    }

    build() {
      super.build();
      this.list = html("ul", { class: "live-list" });
      const heading = html("p", {}, "Changed since the start:");
      this.changes = html("div", { class: "live-changes", hidden: true }, heading, this.list);
      this.controls.after(this.changes, this.said, this.complaint);
    }

    compute(state) {
      const { data } = this;
      const cfg = { ...data.cfg, softmax: state.softmax, positions: state.positions !== "none",
        residual: state.residual ?? true, norm: state.norm ?? "post", causal: state.mask ?? true,
        scale: state.divisor === data.start ? true : 1 / state.divisor };
      this.matrices = filledIn(data.matrices, state);
      const positions = data.tables[state.positions];
      return computed({ data, params: parameters(this.matrices), cfg, positions, state });
    }

    show(state) {
      this.steps = this.compute(state);
      for (const [key, panel] of this.panels) panel.node.hidden = !this.steps.has(key);
      let broken = null;
      for (const { node, size, keys } of this.parts) {
        const there = keys.filter((key) => this.steps.has(key));
        const bad = there.find((key) => !isWhole(this.steps.get(key)));
        const changes = there.map((key) => largestChange(this.steps.get(key).value, this.first.get(key)?.value));
        const largest = Math.max(0, ...changes);
        let text = largest > 0 ? `largest change ${amount(largest)}` : "";
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
      if (this.bars) {
        const p = this.steps.get("out.p").value.at(-1);
        const largest = p.indexOf(Math.max(...p));
        this.bars.set(p, { lit: largest < 0 ? [] : [largest] });
        this.bars.table.caption.textContent = `The next word after ${this.data.target[Number(state.target) - 1]}`;
      }
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
      const title = this.panels.get(key).node.querySelector(".byhand-title").firstChild;
      const all = `${nameOf(this.panels.get(key))} = ${formula} `; // its shape follows
      if (title.data !== all) title.data = all;
    }

    paintStep(key, panel, { value, from, sum, rows, cols, ...more }) {
      const before = this.first.get(key)?.value;
      const grid = this.grids.find((one) => one.panel === panel);
      fit(panel.result, rows, cols, value[0].length);
      panel.rows = rows;
      if (cols) panel.cols = cols;
      panel.node.dataset.from = from
        .map(([of, lights, shift = 0]) => `${this.order.indexOf(of)}:${lights}:${shift}`).join(" ");
      this.entitle(key, { from, ...more });
      widen(panel.node, rows, value);
      if (grid) grid.paint();
      panel.set({ result: value, start: value.map((row, i) => row.map((x, j) => before?.[i]?.[j] ?? x)),
        sum: (where, i, j) => sum(where, i, j) + was(value[i][j], before?.[i]?.[j]) });
    }

    listChanges() {
      const changed = Object.keys(this.labels).filter((name) => !Object.is(this.state[name], this.can[name].start));
      this.changes.hidden = !changed.length;
      this.list.replaceChildren(...changed.map((name) => html("li", {},
        `${this.labels[name]}: ${onPage(String(this.can[name].start))} → ${onPage(String(this.state[name]))} `,
        html("button", { type: "button", "aria-label": `Put back ${this.labels[name]}`,
          click: () => this.putBack(name) }, "Put back"))));
    }

    putBack(name) {
      const at = [...this.list.children].findIndex((item) => item.contains(document.activeElement));
      this.change({ [name]: this.can[name].start });
      // the button is gone: the next one takes its place, or the way back to the start
      (this.list.querySelectorAll("button")[Math.min(at, this.list.children.length - 1)]
        ?? this.querySelector(".live-reset")).focus();
    }

    say({ target }) {
      const { until, words: vocabulary, source } = this.data;
      if (this.broken) {
        const { name, key } = this.broken;
        return `In “${name}”, ${nameOf(this.panels.get(key))} has NaN or ∞, and so it goes on from there.`;
      }
      if (until) {
        const a = this.steps.get("enc.att.A1").value[0];
        const most = Math.max(...a);
        return `${source[0]} gives ${fixed(most, 4)} of its attention to ${source[a.indexOf(most)]}.`;
      }
      const p = this.steps.get("out.p").value.at(-1);
      const start = this.first.get("out.p").value.at(-1);
      const best = p.indexOf(Math.max(...p));
      const first = start.indexOf(Math.max(...start));
      const said = `After “${this.data.target.slice(0, Number(target)).join(" ")}”, the most probable word is `
        + `“${vocabulary[best]}” with ${fixed(p[best], 4)}`;
      if (p.every((x, i) => Object.is(x, start[i]))) return `${said}.`;
      if (best === first && target === this.can.target.start) {
        return `${said}; at the start ${fixed(start[best], 4)}, a change of ${signed(p[best] - start[best])}.`;
      }
      return `${said}. At the start it was “${vocabulary[first]}” with ${fixed(start[first], 4)}.`;
    }
  }

  // "Q₁"
  function nameOf(panel) {
    return panel.node.querySelector(".byhand-title").firstChild.data.split(" = ")[0].trim();
  }

  // The formula in a panel's title as Python wrote it, and the steps that it names
  function formulaOf(node, order) {
    const [, text] = node.querySelector(".byhand-title").firstChild.data.split(" = ");
    const made = (node.dataset.from ?? "").split(" ").filter((one) => one).map((one) => order[parseInt(one, 10)]);
    return { text, made };
  }

  // " (was 8: +0.2)"
  function was(value, before) {
    if (before === undefined || Object.is(value, before)) return "";
    const change = value - before;
    const size = Number.isFinite(change) ? signed(change) : "no number now";
    return ` <span class="live-was">(was ${shown(before)}: ${size})</span>`;
  }

  define("machine", Machine);
})();
