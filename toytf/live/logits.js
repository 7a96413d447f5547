// One row of logits to move. Beside logits.py, which wrote the table.
import { fixed, onPage, parsed, small } from "./engine/numbers.js";
import { dot, softmax, logSoftmax, sum } from "./engine/ops.js";
import { button, html, set } from "./page/make.js";
import { choice, own, place } from "./page/settings.js";
import { Live, define } from "./page/element.js";

const [FROM, TO, STEP] = [-20, 20, 0.1]; // of a slider
const word = (x) => small(x, 4) ?? onPage(fixed(x, 4));
const rounded = (x) => Number(x.toFixed(2));

class Logits extends Live {
  settings({ starts }) {
    const names = Object.keys(starts);
    const read = (text) => {
      const numbers = text.split(" ").map((part) => parsed(part));
      const fits = numbers.length === 6 && numbers.every((x) => x >= FROM && x <= TO);
      return fits ? { value: numbers } : { error: `moved: expected six numbers from −20 to 20, got “${text}”` };
    };
    return {
      start: choice({ label: "start", start: names[0], options: names }),
      loss: choice({ label: "loss", start: "cross-entropy", options: ["cross-entropy", "distance"] }),
      moved: own({ start: null, read, write: (numbers) => numbers?.join(" ") ?? "" }),
      steps: place({ label: "steps", start: 0, from: 0, to: 10000 }),
    };
  }

  take() {
    this.table = this.querySelector(".live-logits");
    this.bar = this.querySelector(".live-bars").rows[0];
    this.rows = [...this.table.tBodies[0].rows];
    this.sliders = this.rows.map((row, i) => {
      const input = ({ target }) => this.move(i, Number(target.value));
      const slider = html("input", { type: "range", min: FROM, max: TO, step: STEP, input });
      row.cells[1].append(slider);
      return slider;
    });
  }

  build() {
    super.build();
    const step = (words, by) => button(words, () => this.change({ steps: Math.min(10000, this.state.steps + by) }));
    this.controls.append(step("One step", 1), step("Ten steps", 10));
  }

  // A start begins anew; a logit that is moved stays where it is put, and steps go on from there.
  change(some) {
    super.change("start" in some ? { moved: null, steps: 0, ...some } : some);
  }

  move(i, value) {
    const moved = this.asOne(this.s, together).map(rounded);
    moved[i] = value;
    this.change({ moved, steps: 0 });
  }

  // The entries of some words, and what becomes of all others
  asOne(row, of) {
    const { words } = this.data.starts[this.state.start];
    return [...words.map((w) => row[w]), of(row.filter((_, w) => !words.includes(w)))];
  }

  // ---------------------------------------------------------------- what follows

  // The row after the steps, from the start or from where logits were moved to
  after({ start, moved, steps, loss }) {
    const { logits, words } = this.data.starts[start];
    let s = logits;
    if (moved) {
      const by = moved[5] - this.asOne(s, together)[5];
      s = s.map((x, w) => (words.includes(w) ? moved[words.indexOf(w)] : x + by));
    }
    for (let n = 0; n < steps; n += 1) {
      const ds = this.slopes(s, loss);
      s = s.map((x, w) => x - ds[w]);
    }
    return s;
  }

  away(s) {
    const [right] = this.data.starts[this.state.start].words;
    return softmax(s).map((p, w) => p - Number(w === right));
  }

  // p - g; of the distance D between p and g: p_j / D ((p_j - g_j) - sum_i p_i (p_i - g_i))
  slopes(s, loss) {
    const away = this.away(s);
    if (loss === "cross-entropy") return away;
    const [p, distance] = [softmax(s), Math.hypot(...away)];
    const average = dot(p, away);
    return p.map((share, w) => (distance ? (share / distance) * (away[w] - average) : 0));
  }

  show(state) {
    const { words } = this.data.starts[state.start];
    const names = [...words.map((w) => this.data.tokens[w]), this.rows.at(-1).cells[0].textContent];
    this.s = this.after(state);
    const [p, ds] = [softmax(this.s), this.slopes(this.s, state.loss)];
    const columns = [this.asOne(this.s, together), this.asOne(p, sum), this.asOne(ds, sum)];
    this.rows.forEach((row, i) => {
      const [s, share, slope] = columns.map((column) => column[i]);
      const [name, , logit, bar, probability, way, number] = row.cells;
      [name.textContent, logit.textContent] = [names[i], onPage(fixed(s, 2))];
      [probability.textContent, number.textContent] = [word(share), word(slope)];
      bar.style.setProperty("--share", share);
      way.style.setProperty("--slope", slope);
      way.classList.toggle("logits-down", slope < 0);
      set(this.sliders[i], { "aria-label": `logit of ${names[i]}`, "aria-valuetext": onPage(fixed(s, 2)) });
      this.sliders[i].value = s;
    });
    this.showLoss(state, names[0], p);
  }

  showLoss({ loss }, right, p) {
    const isLog = loss === "cross-entropy";
    this.right = [right, p[this.data.tokens.indexOf(right)]];
    const distance = Math.hypot(...this.away(this.s));
    this.value = isLog ? -logSoftmax(this.s)[this.data.tokens.indexOf(right)] : distance;
    const [name, bar, number] = this.bar.cells;
    name.textContent = isLog ? `loss, −log p of ${right}` : "loss, distance of p and g";
    number.textContent = word(this.value);
    bar.style.setProperty("--share", Math.min(1, this.value / (isLog ? this.data.most : Math.SQRT2)));
  }

  say({ steps, moved, start }) {
    const [right, p] = this.right;
    const from = moved ? "from where you moved it" : `from “${start}”`;
    const done = steps ? `${steps} step${steps > 1 ? "s" : ""} ${from}` : moved ? "Moved by hand" : `Start: ${start}`;
    const sure = p > 0.9 ? " It is sure, and right." : "";
    const [share, loss] = [p, this.value].map((x) => word(x).replaceAll(" ", "\u00a0"));
    return `${done}. “${right}”, the right word, has p = ${share}; the loss is ${loss}.${sure}`;
  }
}

// The logit of a word that would get what these words get together: log-sum-exp
function together(s) {
  const largest = Math.max(...s);
  return largest + Math.log(sum(s.map((x) => Math.exp(x - largest))));
}

define("logits", Logits);
