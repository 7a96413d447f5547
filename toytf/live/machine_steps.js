// What the machine computes, step by step, with the sums of its panels. Python lists the steps (machine.py, put).
import { shown } from "./engine/numbers.js";
import { add, layerNorm, linear, matmul, mean, relu, scaled, softmax, softmaxNaive, transposed } from "./engine/ops.js";
import { causalMask, mergeHeads, weightedSum } from "./engine/attention.js";
import { num, plus, times, over, minus, root, chain, productSum, weightedSumRow } from "./page/sums.js";
import { addSum, divideSum, reluSum, softmaxSum } from "./page/sums.js";

// ---------------------------------------------------------------- names: "enc.w_q.0.1" is a cell of a matrix

// All cells of an array, which may be a matrix or one row: [name, value]
export const cellsByName = (name, array) =>
  array.flatMap((part, i) =>
    Array.isArray(part) ? part.map((value, j) => [`${name}.${i}.${j}`, value]) : [[`${name}.${i}`, part]],
  );

// The array with the values of a state
const filledIn = (name, array, state) =>
  array.map((part, i) =>
    Array.isArray(part) ? part.map((_, j) => state[`${name}.${i}.${j}`]) : state[`${name}.${i}`],
  );

// ---------------------------------------------------------------- sums that only this page has

// gamma (x - mean) / sqrt(var + eps) + beta, one entry
function normSum(where, x, j, gamma, beta, eps, value) {
  const centre = mean(x);
  const variance = mean(x.map((v) => (v - centre) ** 2));
  const spread = root(plus([num(variance), num(eps, 8)]));
  return chain(where, [
    plus([times(num(gamma), over(minus(num(x[j]), num(centre)), spread)), num(beta)]),
    plus([times(num(gamma), over(num(x[j] - centre), num(Math.sqrt(variance + eps)))), num(beta)]),
    num(value),
  ]);
}

// A number and the root of a width, `how` over or times
const rootSum = (where, how, x, width, value) =>
  chain(where, [how(num(x), root(num(width))), how(num(x), num(Math.sqrt(width))), num(value)]);

// ---------------------------------------------------------------- the steps

const column = (matrix, j) => matrix.map((row) => row[j]);
const given = (value) => [value, (where, i, j, x) => chain(where, [num(x)])];

// Of each kind of step: its numbers, of those before it (`x`) and of arrays of the model (`w`), and the sum of an entry
const OPERATIONS = {
  look: ({ w: [table], ids }) => given(ids.map((id) => table[id])),
  root: ({ x: [a], width }) => [
    scaled(a, Math.sqrt(width)),
    (where, i, j, value) => rootSum(where, times, a[i][j], width, value),
  ],
  positions: ({ table, ids }) => given(table.slice(0, ids.length)),
  add: ({ x: [a, b] }) => [add(a, b), (where, i, j, value) => addSum(where, a[i][j], b[i][j], value)],
  product({ x: [a], w: [all], from, to }) {
    const w = all.map((row) => row.slice(from, to));
    return [matmul(a, w), (where, i, j, value) => productSum(where, a[i], column(w, j), value)];
  },
  dots: ({ x: [q, k] }) => [matmul(q, transposed(k)), (where, i, j, value) => productSum(where, q[i], k[j], value)],
  divide: ({ x: [s], width, divisor }) =>
    divisor === null
      ? [scaled(s, 1 / Math.sqrt(width)), (where, i, j, value) => rootSum(where, over, s[i][j], width, value)]
      : [scaled(s, 1 / divisor), (where, i, j, value) => divideSum(where, s[i][j], divisor, value)],
  mask: ({ x: [s] }) => [
    s.map((row, i) => row.map((score, j) => (j <= i ? score : -Infinity))),
    (where, i, j, value) => addSum(where, s[i][j], j <= i ? 0 : -Infinity, value),
  ],
  softmax: ({ x: [s], naive, sci }) => [
    s.map(naive ? softmaxNaive : softmax),
    (where, i, j, value) => softmaxSum(where, s[i], j, value, { subtractMax: !naive, sci }),
  ],
  mix({ x: [a, v], seen, rows }) {
    const out = a.map((weights, i) => weightedSum(weights, v, seen?.[i]));
    return [out, (where, i) => weightedSumRow(rows[i], a[i], v, out[i])];
  },
  concat: ({ x }) => given(mergeHeads(x)),
  affine: ({ x: [a], w: [weight, bias] }) => [
    linear({ weight, bias }, a),
    (where, i, j, value) => productSum(where, a[i], column(weight, j), value, 4, [bias[j]]),
  ],
  bias: ({ x: [a], w: [b] }) => [
    a.map((row) => row.map((value, j) => value + b[j])),
    (where, i, j, value) => addSum(where, a[i][j], b[j], value),
  ],
  relu: ({ x: [a] }) => [a.map(relu), (where, i, j, value) => reluSum(where, a[i][j], value)],
  norm: ({ x: [a], w: [gamma, beta], eps }) => [
    a.map((row) => layerNorm({ gamma, beta }, row, eps)),
    (where, i, j, value) => normSum(where, a[i], j, gamma[j], beta[j], eps, value),
  ],
};

// Which cells of what a step was made of light up with entry (i, j); see byhand/panel.js
const ROW = ["i*r"];
const LIGHTS = { add: ["ijr", "ijc"], product: ROW, dots: ["i*r", "j*c"], divide: ["ijr"], mask: ["ijr"], affine: ROW };
Object.assign(LIGHTS, {
  softmax: ["i*r,ijc"],
  norm: ["i*r,ijc"],
  mix: ["i*r", "**c"],
  bias: ["ijr"],
  relu: ["ijr"],
  root: ["ijr"],
});

// What is computed of the words that are read (Machine.reads), with the numbers and switches of a state: for each key its numbers, what it was made of (other keys,
// and which of their cells light up), and the sum of an entry. Steps that the switches leave out are not there: one of
// those that they would be made of stands in their place.
export function computed(data, state, { words, ids }) {
  const { residual = true, norm = "post", mask = true } = state;
  const n = words.target.length;
  const on = { positions: state.positions !== "none", residual, [norm]: true, mask: mask && n > 1 };
  const same = {
    table: data.tables[state.positions],
    divisor: state.divisor === data.start ? null : state.divisor,
    naive: state.softmax === "naive",
    eps: data.cfg.eps,
  };
  const [steps, instead] = [new Map(), new Map()];
  const there = (key) => (instead.has(key) ? there(instead.get(key)) : key);
  for (const { key, op, of, w, when, or, ...more } of data.steps) {
    if (when && !on[when]) {
      instead.set(key, of[or]);
      continue;
    }
    const from = of.map(there);
    const arrays = w.map((name) => filledIn(name, data.matrices[name], state));
    const [rows, cols] = [words[more.rows], words[more.cols]];
    const seen = more.causal && on.mask ? causalMask(n) : null;
    const x = from.map((one) => steps.get(one).value);
    const [value, sum] = OPERATIONS[op]({ ...same, ...more, x, w: arrays, ids: ids[more.rows], rows, seen });
    steps.set(key, {
      value,
      from: from.map((one, k) => (op === "concat" ? [one, "ijr", k * x[k][0].length] : [one, LIGHTS[op][k]])),
      sum: (where, i, j) => sum(where, i, j, value[i][j]),
      rows,
      cols,
      sci: more.sci,
      hides: op === "mask",
      divisor: op === "divide" && (same.divisor === null ? `√${more.width}` : shown(same.divisor)),
    });
  }
  return steps;
}
