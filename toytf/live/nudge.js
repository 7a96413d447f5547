// The nudge on the loss curve: a slope from two losses, beside the slope of the backward pass. Beside nudge.py.
import { fixed, scientific, onPage } from "./engine/numbers.js";
import { matmul, transposed, linearBackward, crossEntropy, crossEntropyBackward } from "./engine/ops.js";
import { attention, attentionBackward } from "./engine/attention.js";
import { number, choice } from "./page/settings.js";
import { Live, define } from "./page/element.js";
import { chart, power } from "./page/chart.js";

const [EDGE, LEAST, MOST, SMALLEST] = [4, -13, 2, -16];
const CURVE = Array.from({ length: 161 }, (_, k) => -EDGE + (2 * EDGE * k) / 160);
const NUDGES = Array.from({ length: 65 }, (_, k) => 10 ** (SMALLEST + k / 4));

// ---------------------------------------------------------------- the network and its gradient

function forward({ x, w_q, w_k, w_v, w_out, targets, divisor }) {
  const [o, attended] = attention(matmul(x, w_q), matmul(x, w_k), matmul(x, w_v), { scale: 1 / divisor });
  const [loss, said] = crossEntropy(matmul(o, w_out), targets);
  return { loss, o, attended, said };
}

const withEntry = (problem, name, [i, j], value) => ({
  ...problem,
  [name]: problem[name].map((row, r) => row.map((old, c) => (r === i && c === j ? value : old))),
});

// Of the four matrices, by the backward pass
function gradients(problem) {
  const { o, attended, said } = forward(problem);
  const [dO, { weight }] = linearBackward({ weight: problem.w_out }, o, crossEntropyBackward(said));
  const [dq, dk, dv] = attentionBackward(attended, dO).map((d) => matmul(transposed(problem.x), d));
  return { w_q: dq, w_k: dk, w_v: dv, w_out: weight };
}

// The distance of a float, at least 1e-300, from the next larger one
const ulp = (x) => 2 ** (Math.floor(Math.log2(x)) - 52);

const quotient = (loss, w, by) => (loss(w + by) - loss(w - by)) / (2 * by);

// ---------------------------------------------------------------- words

// What an error is beside the slope: a small slope is held to the same as a large one
const share = (error, slope) => (error ? error / Math.abs(slope) : 0);

const short = (error) => (error ? onPage(scientific(error, 1)) : "0");
const shortest = (x) => onPage(String(Number(x.toPrecision(3))));

// How many characters two words begin with in common
function shared(a, b) {
  let k = 0;
  while (k < a.length && a[k] === b[k]) k += 1;
  return k;
}

// ---------------------------------------------------------------- the pictures: those of nudge.py

// Where an axis begins and ends, and its step: 1, 2 or 5 times a power of ten
function scaleOf(low, high) {
  const rough = (high - low) / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((m) => m * unit >= rough) * unit;
  return [Math.floor(low / step) * step, Math.ceil(high / step) * step, step];
}

function drawCurve(node, { loss, w, nudge, slope, by, losses }) {
  const [low, high, step] = scaleOf(Math.min(...losses), Math.max(...losses));
  const ticks = Array.from({ length: Math.round((high - low) / step) + 1 }, (_, k) => low + k * step);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const middle = (loss(w + nudge) + loss(w - nudge)) / 2;
  const across = (height, rise) => [-EDGE, EDGE].map((v) => [v, height + rise * (v - w)]);
  chart(node, {
    alt: onPage(
      `The loss against w from -4 to 4. At w = ${fixed(w, 4)} the line ` +
        `through the two nudged points has the slope ${fixed(by, 4)}, the tangent ${fixed(slope, 4)}.`,
    ),
    x: [-EDGE, EDGE],
    y: [low, high],
    ticks: [[-4, -2, 0, 2, 4].map((v) => [v, onPage(String(v))]), ticks.map((t) => [t, onPage(fixed(t, decimals))])],
    lines: [
      ["ink nudge-loss", CURVE.map((v, k) => [v, losses[k]])],
      ["orange nudge-secant", across(middle, by)],
      ["blue dashed nudge-tangent", across(loss(w), slope)],
    ],
    marks: [...[w - nudge, w + nudge].map((v) => ["orange", "square", [v, loss(v)]]), ["blue", "disc", [w, loss(w)]]],
    below: ["w"],
  });
}

function drawErrors(node, { loss, w, nudge, slope, share: miss, errors }) {
  const point = (by, part) => [Math.log10(by), part ? Math.min(Math.max(Math.log10(part), LEAST), MOST) : LEAST];
  const powers = (...all) => all.map((p) => [p, power(p)]);
  const here = point(nudge, miss);
  const digit = Math.log10(share(ulp(loss(w)) / 2, slope)); // with Δ = 1
  chart(node, {
    alt:
      "Error of the slope, as a share of it, against the nudge, from 1e−16 to 1, " +
      `on scales of powers of ten. At ${shortest(nudge)} it is ${short(miss)}.`,
    x: [SMALLEST, 0],
    y: [LEAST, MOST],
    ticks: [powers(-16, -12, -8, -4, 0), powers(-12, -9, -6, -3, 0)],
    lines: [
      ["quiet dotted", [Math.max(SMALLEST, digit - MOST), Math.min(0, digit - LEAST)].map((x) => [x, digit - x])],
      ["orange nudge-u", NUDGES.map((by, k) => point(by, errors[k]))],
      ["faint", [LEAST, MOST].map((y) => [here[0], y])],
    ],
    marks: [["orange", "square", here]],
    below: ["← few digits left", "the curve bends →"],
  });
}

// ---------------------------------------------------------------- the element

class Nudge extends Live {
  settings({ names, start, nudge, smallest }) {
    return {
      weight: choice({ label: "a weight of", start: "w_v", options: names }),
      w: number({ label: "w", start, from: -3, to: 3, step: 0.01 }),
      nudge: number({ label: "nudge Δ", start: nudge, from: smallest, to: 1, scale: "log" }),
    };
  }

  take() {
    [this.curve, this.errors] = this.querySelectorAll(".live-chart");
    this.cells = [...this.querySelectorAll(".live-numbers td")];
  }

  // Another weight begins at the value that it has.
  change({ weight, ...some }) {
    if (weight === undefined || "w" in some) return super.change(weight === undefined ? some : { weight, ...some });
    const [i, j] = this.data.places[weight];
    return super.change({ weight, w: this.data[weight][i][j], ...some });
  }

  show({ weight, w, nudge }) {
    const place = this.data.places[weight];
    const loss = (value) => forward(withEntry(this.data, weight, place, value)).loss;
    const slope = gradients(withEntry(this.data, weight, place, w))[weight][place[0]][place[1]];
    const by = quotient(loss, w, nudge);
    const errors = NUDGES.map((each) => share(Math.abs(quotient(loss, w, each) - slope), slope));
    const error = Math.abs(by - slope);
    const seen = { loss, w, nudge, slope, by, error, share: share(error, slope), errors };
    this.querySelector(".nudge-which").textContent =
      `w stands in row ${place[0] + 1}, column ${place[1] + 1} of ${this.data.names[weight]}.`;
    drawCurve(this.curve, { ...seen, losses: this.lossesOf(weight, loss) });
    drawErrors(this.errors, seen);
    const [up, down] = [w + nudge, w - nudge].map((value) => onPage(fixed(loss(value), 16)));
    const same = shared(up, down);
    [up, down].forEach((word, k) => {
      this.cells[k].firstChild.textContent = word.slice(0, same);
      this.cells[k].lastChild.textContent = word.slice(same);
    });
    [fixed(by, 12), fixed(slope, 12), short(seen.error), short(seen.share)].forEach((word, k) => {
      this.cells[2 + k].textContent = onPage(word);
    });
    Object.assign(this, { seen, equal: up === down, digits: up.slice(0, same).replace(/\D/g, "").length });
  }

  // The whole curve does not change while its weight moves along it.
  lossesOf(weight, loss) {
    this.drawn ??= {};
    return (this.drawn[weight] ??= CURVE.map(loss));
  }

  say({ nudge }) {
    const { by, slope, share: part, errors } = this.seen;
    const best = NUDGES[errors.indexOf(Math.min(...errors))];
    const why =
      nudge > 10 * best
        ? "the curve bends between the two points."
        : nudge < best / 10
          ? this.equal
            ? "the two losses are equal: no digit is left."
            : `the two losses have ${this.digits} digits in common, and a float has about 16.`
          : "hardly any nudge does better here.";
    return (
      `Nudged by ${shortest(nudge)}, the slope comes out as ${onPage(fixed(by, 6))}; the backward pass gives ` +
      `${onPage(fixed(slope, 6))}. It is off by ${short(part)} of the slope: ${why}`
    );
  }
}

define("nudge", Nudge);
