// The small operations that everything else is made of. Beside toytf/ops.py: the same names, the same formulas.
//
// A matrix is an array of rows, a row an array of numbers; tokens are rows. Nothing is changed in place.
// Nothing is refused either: what overflows becomes infinity or NaN, and the page shows it where it arose.
export const sum = (row) => row.reduce((total, x) => total + x, 0);
export const mean = (row) => sum(row) / row.length;
export const dot = (a, b) => a.reduce((total, x, i) => total + x * b[i], 0);

// ---------------------------------------------------------------- matrices

export const transposed = (x) => x[0].map((_, j) => x.map((row) => row[j]));
export const add = (a, b) => a.map((row, i) => row.map((x, j) => x + b[i][j]));
export const scaled = (a, factor) => a.map((row) => row.map((x) => x * factor));

// Each row of a is a recipe: so much of each row of b.
export const matmul = (a, b) =>
  a.map((row) => {
    const out = b[0].map(() => 0);
    for (let k = 0; k < row.length; k += 1) for (let j = 0; j < out.length; j += 1) out[j] += row[k] * b[k][j];
    return out;
  });

// ---------------------------------------------------------------- softmax

// softmax(x)[i] = exp(x[i]) / sum_j exp(x[j]); the largest score is subtracted first
export function softmax(row) {
  const largest = row.reduce((a, b) => Math.max(a, b), -Infinity);
  return shares(row.map((x) => Math.exp(x - largest)));
}

// As it is usually typed: exp overflows above 709.78, and infinity / infinity is NaN.
export const softmaxNaive = (row) => shares(row.map((x) => Math.exp(x)));

function shares(exps) {
  const total = sum(exps);
  return exps.map((e) => e / total);
}

// log_softmax(x)[i] = x[i] - log sum_j exp(x[j])
export function logSoftmax(row) {
  const largest = row.reduce((a, b) => Math.max(a, b), -Infinity);
  const logSum = Math.log(sum(row.map((x) => Math.exp(x - largest))));
  return row.map((x) => x - largest - logSum);
}

// dx[i] = a[i] (dout[i] - sum_j a[j] dout[j])
export function softmaxBackward(weights, dout) {
  const average = dot(weights, dout);
  return weights.map((a, i) => a * (dout[i] - average));
}

// ---------------------------------------------------------------- linear map, embedding

// y = x W + b, for every row
export function linear({ weight, bias }, x) {
  const y = matmul(x, weight);
  return bias ? y.map((row) => row.map((value, j) => value + bias[j])) : y;
}

// dx = dout W^T, dW = x^T dout, db = column sums of dout
export function linearBackward({ weight, bias }, x, dout) {
  const summed = bias ? transposed(dout).map(sum) : null;
  return [matmul(dout, transposed(weight)), { weight: matmul(transposed(x), dout), bias: summed }];
}

export const embedding = (table, ids) => ids.map((id) => table[id]);

export const relu = (row) => row.map((x) => (x < 0 ? 0 : x));

// ---------------------------------------------------------------- layer norm

// gamma (x - mean) / sqrt(var + eps) + beta, for one row
export function layerNorm({ gamma, beta }, row, eps = 1e-5) {
  const unit = unitWhoseSquaresFit(row);
  const inUnits = row.map((x) => x / unit);
  const centre = mean(inUnits);
  const centred = inUnits.map((x) => x - centre);
  const variance = dot(centred, centred) / row.length;
  const std = Math.sqrt(variance + eps / unit / unit);
  return centred.map((x, j) => gamma[j] * (x / std) + beta[j]);
}

// 1, but for rows as large as 1e154, whose squares would leave the range of floats: a power of two near the largest
function unitWhoseSquaresFit(row) {
  const largest = row.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  return largest > 1e150 && largest < Infinity ? 2 ** Math.floor(Math.log2(largest)) : 1;
}

// ---------------------------------------------------------------- loss

// mean over tokens of -log softmax(logits)[target]
export function crossEntropy(logits, targets) {
  const logProbs = logits.map(logSoftmax);
  const loss = -mean(logProbs.map((row, i) => row[targets[i]]));
  const goal = logits.map((row, i) => row.map((_, w) => Number(w === targets[i])));
  return [loss, { probs: logProbs.map((row) => row.map(Math.exp)), goal, n: logits.length }];
}

// What was said minus what was wanted: (softmax(logits) - goal) / n
export const crossEntropyBackward = ({ probs, goal, n }) =>
  probs.map((row, i) => row.map((p, w) => (p - goal[i][w]) / n));
