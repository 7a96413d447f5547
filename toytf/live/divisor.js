// The divisor of the scores, to be moved. Beside divisor.py.
import { shown, fixed, words } from "./engine/numbers.js";
import { softmax, sum } from "./engine/ops.js";
import { number, choice } from "./page/settings.js";
import { Live, define } from "./page/element.js";
import { divideSum, softmaxSum } from "./page/sums.js";
import { Panel, Bars } from "./page/tables.js";

class Divisor extends Live {
  settings({ start, largest, rows }) {
    return {
      divisor: number({ label: "divisor", start, from: 0.5, to: largest, scale: "log" }),
      row: choice({ label: "row of the bars", start: rows[0], options: rows }),
    };
  }

  // From the root that the paper divides by to the largest divisor: the shares soften
  plays({ start, largest }) {
    const further = [5, 10, 20, 50, largest].filter((divisor) => divisor > start && divisor <= largest);
    return [start, ...further].map((divisor) => ({ divisor }));
  }

  take() {
    this.scaledPanel = new Panel(this.querySelector(".live-scaled .byhand"));
    this.weightsPanel = new Panel(this.querySelector(".live-weights .byhand"), { sci: true });
    [this.weightBars, this.slopeBars] = [...this.querySelectorAll(".live-bars")].map(
      (table) => new Bars(table, { sci: true }),
    );
  }

  show({ divisor, row }) {
    const { scores, rows } = this.data;
    const divided = scores.map((scoresOfRow) => scoresOfRow.map((score) => score / divisor));
    const weights = divided.map(softmax);
    const i = rows.indexOf(row);
    // the slope of weight j, with respect to score j / divisor; the others' sum keeps digits that 1 - weight loses
    const slopes = weights[i].map((weight, j) => weight * sum(weights[i].filter((_, k) => k !== j)));
    this.scaledPanel.set({
      operands: [scores],
      result: divided,
      sign: `/ ${shown(divisor)} =`,
      sum: (where, r, j) => divideSum(where, scores[r][j], divisor, divided[r][j]),
    });
    this.weightsPanel.set({
      operands: [divided],
      result: weights,
      sum: (where, r, j) => softmaxSum(where, divided[r], j, weights[r][j], { subtractMax: true, sci: true }),
    });
    this.weightBars.set(weights[i]);
    this.slopeBars.set(slopes);
    for (const { table } of [this.weightBars, this.slopeBars])
      table.caption.textContent = table.caption.textContent.replace(/^.*?(?=: (its shares|the slope))/, () => row);
    Object.assign(this, { weights, slopes });
  }

  say({ divisor, row }) {
    const at = this.data.rows.indexOf(row);
    const best = this.weights[at].indexOf(Math.max(...this.weights[at]));
    const name = this.data.cols[best];
    const slope = words([[this.slopes[best]]], 4, true)[0][0].replaceAll(" ", "\u00a0");
    return (
      `Divided by ${shown(divisor)}, ${row} gives ${fixed(this.weights[at][best], 4)} of its attention to ${name}; ` +
      `if the scaled score of ${name} rises by a tiny amount, this share rises by ${slope} times that amount.`
    );
  }
}

define("divisor", Divisor);
