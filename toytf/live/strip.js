// A computation as a strip of numbers. Beside strip.py, which wrote all steps; this begins before the first.
import { onPage, trimmed } from "./engine/numbers.js";
import { button, html, stopAt, walk } from "./page/make.js";
import { choice, number, own, place } from "./page/settings.js";
import { Live, define } from "./page/element.js";
import { chain, minus, num, plus, times } from "./page/sums.js";

const NAMES = ["w", "x", "u", "b", "y", "z", "L"];
const KINDS = ["", "Δ", "d"]; // of what stands in a column: the number, what it moves by, its slope
const FORWARD = ["u", "y", "z", "L"]; // a step each, and then one back for each of these
const BACK = [["L"], ["z"], ["y"], ["u", "b"], ["w", "x"]];
const LAST = FORWARD.length + BACK.length;
const short = (x) => onPage(trimmed(x, 4));
const squared = (x) => ({ exact: x.exact, text: () => `${x.text(true)}²` });

class Strip extends Live {
  settings({ w, x, b, nudge }) {
    const range = { from: -5, to: 5, step: 0.1 };
    const read = (text) =>
      this.cellNames.includes(text) ? { value: text } : { error: `look: expected one of ${this.cellNames.join(", ")}` };
    return {
      w: number({ label: "w", start: w, ...range }),
      x: number({ label: "x", start: x, ...range }),
      b: number({ label: "b", start: b, ...range }),
      who: choice({ label: "nudge", start: "w", options: ["w", "x", "b"] }),
      nudge: choice({ label: "by", start: nudge, options: ["1.0", "0.1", "0.01"] }),
      step: place({ label: "step", start: 0, from: 0, to: LAST }),
      look: own({ start: "w", write: String, read }),
    };
  }

  get cellNames() {
    return NAMES.flatMap((name) => KINDS.map((kind) => kind + name));
  }

  take() {
    this.rows = [...this.querySelector(".live-strip").tBodies[0].rows];
    this.cells = this.rows.map((row, i) =>
      KINDS.map((kind, j) => {
        const look = kind + NAMES[i];
        const cell = button("", () => this.change({ look }), { "data-look": look });
        row.cells[j + 1].replaceChildren(cell);
        return cell;
      }),
    );
    const table = this.querySelector(".live-strip");
    table.addEventListener("keydown", (event) => {
      if (event.target.dataset.look && walk(this.cells, event.target, event.key)) event.preventDefault();
    });
    this.sum = html("p", { class: "strip-sum", "aria-live": "polite" });
  }

  build() {
    super.build();
    const newest = (n) =>
      n === 0 ? "w" : n <= FORWARD.length ? `Δ${FORWARD[n - 1]}` : `d${BACK[n - FORWARD.length - 1][0]}`;
    const go = (step) => this.change({ step, look: newest(step) });
    const to = (words, step) => button(words, () => go(step(this.state.step)));
    this.next = to("Next step", (n) => Math.min(LAST, n + 1));
    const others = [to("All steps", () => LAST), to("From the start", () => 0)];
    this.said.before(html("div", { class: "live-controls" }, this.next, ...others)); // a phone has both in one screen
    const follows = html("div", {}, this.querySelector(".live-strip"), this.said, this.sum);
    // what is set stands beside what follows, on a phone below it
    this.querySelector(".live-static").append(html("div", { class: "live-side" }, follows, this.controls));
  }

  // ---------------------------------------------------------------- computing

  run({ w, x, b }) {
    const { goal } = this.data;
    return { w, x, b, u: w * x, y: w * x + b, z: w * x + b - goal, L: (w * x + b - goal) ** 2 };
  }

  // From the end: dz = 2z dL, sums hand their slope on, a product's factor gets it times the other factor
  back({ w, x, z }) {
    const dz = 2 * z;
    return { L: 1, z: dz, y: dz, u: dz, b: dz, w: dz * x, x: dz * w };
  }

  // Whether a column's entry is there after so many steps
  isThere(name, kind, step) {
    if (kind === "d") return BACK.findIndex((names) => names.includes(name)) < step - FORWARD.length;
    return FORWARD.indexOf(name) < step;
  }

  // How an entry is made, as "u = w·x = 2·3 = 6"
  sumOf(name, kind) {
    const [v, moved, d] = [this.numbers, this.moved, this.slopes].map((all) => (of) => num(all[of]));
    const goal = num(this.data.goal);
    const made = (of) => ({
      u: times(of("w"), of("x")),
      y: plus([of("u"), of("b")]),
      z: minus(of("y"), goal),
      L: squared(of("z")),
    });
    const back = { L: [], z: [times(num(2), v("z"), d("L"))], y: [d("z")], u: [d("y")], b: [d("y")] };
    back.w = [times(d("u"), v("x"))];
    back.x = [times(d("u"), v("w"))];
    const words = { u: "w·x", y: "u + b", z: `y − ${short(this.data.goal)}`, L: "z²" };
    const slopes = { z: "2z·dL", y: "dz", u: "dy", b: "dy", w: "du·x", x: "du·w" };
    const end = { "": v(name), Δ: num(this.moved[name] - this.numbers[name]), d: d(name) }[kind];
    if (kind === "d") return chain(name === "L" ? "dL" : `d${name} = ${slopes[name]}`, [...back[name], end]);
    const here = made(kind ? moved : v)[name];
    if (!kind) return chain(here ? `${name} = ${words[name]}` : name, here ? [here, end] : [end]);
    if (!here) return chain(`Δ${name}`, [end]);
    const sums = [chain(`Nudged: ${name} = ${words[name]}`, [here, moved(name)])];
    sums.push(chain(`Δ${name}`, [minus(moved(name), v(name)), end]));
    return sums.join("<br>").replace(/ ([+−]) /g, "\u00a0$1\u00a0"); // a difference stays in one line
  }

  // ---------------------------------------------------------------- showing

  show({ who, nudge, step, look, ...given }) {
    this.numbers = this.run(given);
    this.moved = this.run({ ...given, [who]: given[who] + Number(nudge) });
    this.slopes = this.back(this.numbers);
    const moves = (name) => this.moved[name] - this.numbers[name];
    let chosen = this.cells[0][0];
    NAMES.forEach((name, i) =>
      KINDS.forEach((kind, j) => {
        const there = this.isThere(name, kind, step);
        const value = [this.numbers[name], moves(name), this.slopes[name]][j];
        const cell = this.cells[i][j];
        cell.textContent = there ? short(value) : "·";
        cell.setAttribute("aria-label", `${kind}${name}: ${there ? short(value) : "not there yet"}`);
        cell.setAttribute("aria-pressed", String(kind + name === look));
        if (kind + name === look) chosen = cell;
      }),
    );
    stopAt(this.cells, chosen);
    const [, kind, name] = look.match(/^(Δ|d|)(.)$/u);
    const there = this.isThere(name, kind, step);
    this.sum.innerHTML = there ? this.sumOf(name, kind) : `<b>${look}</b> is not there yet: take the next step.`;
    this.next.disabled = step === LAST;
  }

  say({ who, nudge, step }) {
    const [moves, by] = [this.moved.L - this.numbers.L, Number(nudge)];
    if (step === 0) return `${who} is nudged by ${short(by)}. Where does it lead? Take the next step.`;
    if (step < FORWARD.length) return `Forward: ${FORWARD[step - 1]} is there.`;
    const forward = `Nudged by ${short(by)}, ${who} moves L by ${short(moves)}`;
    if (step === FORWARD.length) return `${forward}. Now back from the loss.`;
    if (step < LAST) return `Back: ${BACK[step - FORWARD.length - 1].map((name) => `d${name}`).join(" and ")}.`;
    const [slope, told] = [this.slopes[who], this.slopes[who] * by];
    return `${forward}. By its slope it would be ${short(slope)}·${short(by)} = ${short(told)}; the smaller the nudge, the better that fits.`;
  }
}

define("strip", Strip);
