// A mask whose cells switch. Beside mask.py.
import { shown, fixed, onPage } from "./engine/numbers.js";
import { transposed } from "./engine/ops.js";
import { maskedSoftmax, weightedSum } from "./engine/attention.js";
import { button, html, stopAt, walk } from "./page/make.js";
import { number, choice } from "./page/settings.js";
import { Live, define, listed } from "./page/element.js";
import { softmaxSum, productSum, chain } from "./page/sums.js";
import { Panel, cellsOf } from "./page/tables.js";

const SHARES = { sci: true, least: 4 }; // 1.0000 also where no share has decimals
const same = (a, b) => a.every((row, i) => row.every((may, j) => may === b[i][j]));
const written = (mask) => mask.map((row) => row.map(Number).join("")).join(".");

// The whole mask is one setting: rows of 0 and 1 in the address, and a button for each usual mask.
function maskSetting({ mask: start, presets, rows, cols }) {
  const form = RegExp(`^[01]{${cols.length}}(\\.[01]{${cols.length}}){${rows.length - 1}}$`);
  let buttons;
  return {
    start,
    write: written,
    read: (text) =>
      form.test(text)
        ? { value: text.split(".").map((row) => [...row].map((digit) => digit === "1")) }
        : {
            error: `mask: expected ${rows.length} rows of ${cols.length} digits, 0 or 1, as ${written(start)}, got “${text}”`,
          },
    control(name, change) {
      buttons = Object.entries(presets).map(([words, mask]) => [mask, button(words, () => change(mask))]);
      const group = { class: "live-setting live-presets", role: "group", "aria-label": "usual masks" };
      const all = html("div", { class: "live-options" }, ...buttons.map(([, one]) => one));
      return html("div", { ...group, "data-setting": name }, html("span", {}, "set it to"), all);
    },
    display(value) {
      for (const [mask, one] of buttons) one.setAttribute("aria-pressed", same(mask, value));
    },
  };
}

class Mask extends Live {
  settings(data) {
    return {
      mask: maskSetting(data),
      word: choice({ label: "change the scores of", start: data.cols.at(-1), options: data.cols }),
      by: number({ label: "add to scores", start: 0, from: -data.most, to: data.most, step: 0.5 }),
    };
  }

  take({ rows, cols }) {
    this.grid = this.querySelector(".live-mask");
    this.weightsPanel = new Panel(this.querySelector(".live-weights .byhand"), SHARES);
    this.outPanel = new Panel(this.querySelector(".live-out .byhand"), SHARES);
    // each cell becomes a switch; the table is one stop of the tab key, arrow keys walk in it
    this.cells = cellsOf(this.grid).map((row, i) =>
      row.map((td, j) => {
        const attributes = { type: "button", "aria-label": `${rows[i]} may look at ${cols[j]}` };
        const click = () => this.turn(i, j);
        const focus = ({ target }) => stopAt(this.cells, target);
        return html("button", { ...attributes, tabindex: i + j ? -1 : 0, click, focus }, ...td.childNodes);
      }),
    );
    cellsOf(this.grid).forEach((row, i) => row.forEach((td, j) => td.append(this.cells[i][j])));
    this.grid.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (walk(this.cells, event.target, event.key)) event.preventDefault();
    });
  }

  // The mask opens row by row: no row above moves any more. One that was stopped opens anew
  plays() {
    const { mask } = this.opening?.find((stage) => stage.mask === this.state.mask) ? this.opening.at(-1) : this.state;
    return (this.opening = mask.map((_, open) => ({ mask: mask.map((row, i) => row.map((may) => may && i <= open)) })));
  }

  turn(i, j) {
    this.change({ mask: this.state.mask.map((row, r) => row.map((may, c) => (r === i && c === j ? !may : may))) });
  }

  show({ mask, word, by }) {
    const { scores: before, values, cols } = this.data;
    const k = cols.indexOf(word);
    const scores = before.map((row) => row.map((score, j) => (j === k ? score + by : score)));
    const under = scores.map((row, i) => row.map((score, j) => (mask[i][j] ? score : -Infinity)));
    const [weights, weightsBefore] = [maskedSoftmax(scores, mask), maskedSoftmax(before, mask)];
    this.cells.forEach((row, i) =>
      row.forEach((button, j) => {
        const [digit, score] = button.children;
        button.setAttribute("aria-pressed", mask[i][j]);
        button.setAttribute("aria-description", `score ${shown(scores[i][j])}`);
        button.parentNode.classList.toggle("live-hidden", !mask[i][j]);
        digit.textContent = Number(mask[i][j]);
        score.textContent = onPage(fixed(scores[i][j], 4));
        score.classList.toggle("live-changed", by !== 0 && j === k);
      }),
    );
    this.weightsPanel.set({
      operands: [under],
      result: weights,
      start: weightsBefore,
      sum: (where, i, j) =>
        mask[i].includes(true)
          ? softmaxSum(where, under[i], j, weights[i][j])
          : chain(where, [this.nothing(mask[i].length)]),
    });
    for (const table of [...this.weightsPanel.operands, this.weightsPanel.result]) this.cover(table, mask);
    const mix = (rows) => rows.map((row, i) => weightedSum(row, values, mask[i]));
    const out = mix(weights);
    this.outPanel.set({
      operands: [weights, null],
      result: out,
      start: mix(weightsBefore),
      sum: (where, i, j) => productSum(where, weights[i], transposed(values)[j], out[i][j]),
    });
    this.cover(this.outPanel.operands[0], mask);
    this.moved = weights.map((row, i) => row.some((a, j) => a !== weightsBefore[i][j]));
  }

  // In the place of a sum, where no key is left
  nothing(keys) {
    const power = "e<sup>−∞</sup>";
    const fraction = `${power} / (${Array(keys).fill(power).join(" + ")})`;
    return { exact: true, text: () => `0: nothing is left, and ${fraction} = 0 / 0 would be NaN. toytf puts 0.` };
  }

  // What is hidden is hatched wherever it stands.
  cover(table, mask) {
    cellsOf(table).forEach((row, i) => row.forEach((td, j) => td.classList.toggle("live-hidden", !mask[i][j])));
  }

  say({ mask, word, by }) {
    const { rows, cols } = this.data;
    const visible = mask.flat().filter((may) => may).length;
    const said = [`${visible} of ${mask.flat().length} pairs are visible.`];
    const empty = rows.filter((_, i) => !mask[i].includes(true));
    if (empty.length) {
      said.push(
        `${listed(empty)} ${empty.length > 1 ? "have" : "has"} nothing left: toytf gives zeros, where the softmax of ` +
          "−∞ alone (PyTorch’s too) gives NaN.",
      );
    }
    if (by !== 0) {
      const k = cols.indexOf(word);
      const moved = rows.filter((_, i) => this.moved[i]);
      const blind = rows.filter((_, i) => !mask[i][k]);
      said.push(
        `With ${shown(Math.abs(by))} ${by > 0 ? "more" : "less"} in the scores of ${word}, ` +
          (moved.length ? `the shares of ${listed(moved)} move.` : "no share moves."),
      );
      if (blind.length) said.push(`It is hidden from ${blind.length < rows.length ? listed(blind) : "all"}.`);
    }
    return said.join(" ");
  }
}

define("mask", Mask);
