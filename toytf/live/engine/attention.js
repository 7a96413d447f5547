// Scaled dot-product attention, and several heads of it. Beside toytf/attention.py.
import { matmul, transposed, scaled, linear, softmax, softmaxBackward } from "./ops.js";

// softmax(Q K^T * scale) V; in a mask, true means "may attend". Returns the output and its trace.
export function attention(q, k, v, { mask = null, scale = 1 / Math.sqrt(q[0].length), rowSoftmax = softmax } = {}) {
  const scaledScores = scaled(matmul(q, transposed(k)), scale);
  const attnWeights = maskedSoftmax(scaledScores, mask, rowSoftmax);
  const out = attnWeights.map((weights, i) => weightedSum(weights, v, mask?.[i]));
  return [out, { q, k, v, scaled_scores: scaledScores, attn_weights: attnWeights, scale, mask }];
}

// dV = A^T dout, dA = dout V^T, dS = softmax_backward(A, dA), dQ = dS K * scale, dK = dS^T Q * scale
export function attentionBackward({ q, k, v, attn_weights, scale }, dout) {
  const da = matmul(dout, transposed(v));
  const ds = scaled(
    attn_weights.map((row, i) => softmaxBackward(row, da[i])),
    scale,
  );
  return [matmul(ds, k), matmul(transposed(ds), q), matmul(transposed(attn_weights), dout)];
}

// What stands at a masked value, NaN included, changes nothing.
export function weightedSum(weights, v, seen) {
  return v[0].map((_, j) => weights.reduce((total, a, i) => (seen && !seen[i] ? total : total + a * v[i][j]), 0));
}

// Hidden keys get weight exactly 0; a row with no key left becomes a row of zeros.
export function maskedSoftmax(scores, mask, rowSoftmax = softmax) {
  if (!mask) return scores.map((row) => rowSoftmax(row));
  return scores.map((row, i) => {
    if (!mask[i].some((may) => may)) return row.map(() => 0);
    return rowSoftmax(row.map((score, j) => (mask[i][j] ? score : -Infinity)));
  });
}

// Each row sees itself and the rows before it: those of its own, and `past` others that stand before them all.
export const causalMask = (length, past = 0) =>
  Array.from({ length }, (_, i) => Array.from({ length: past + length }, (__, j) => j <= i + past));

// ---------------------------------------------------------------- several heads

// concat(head_1, ..., head_n) W^O, head_h = attention(x W_h^Q, memory W_h^K, memory W_h^V)
// `past` is each head's trace of the rows read before: their keys and values are not computed again.
export function multiHeadAttention(p, x, memory, { n_heads, mask = null, scale, rowSoftmax, past = null } = {}) {
  const asked = memory ?? x;
  const q = splitHeads(linear({ weight: p.w_q, bias: p.b_q }, x), n_heads);
  const after = (name) => (rows, h) => (past ? [...past[h][name], ...rows] : rows);
  const k = splitHeads(linear({ weight: p.w_k, bias: p.b_k }, asked), n_heads).map(after("k"));
  const v = splitHeads(linear({ weight: p.w_v, bias: p.b_v }, asked), n_heads).map(after("v"));
  const each = q.map((_, h) => attention(q[h], k[h], v[h], { mask, scale, rowSoftmax }));
  const heads = mergeHeads(each.map(([out]) => out));
  const out = linear({ weight: p.w_o, bias: p.b_o }, heads);
  return [out, { x, memory: asked, attention: each.map(([, trace]) => trace), heads }];
}

// Columns h * d_head to (h + 1) * d_head belong to head h.
function splitHeads(x, nHeads) {
  const dHead = x[0].length / nHeads;
  return Array.from({ length: nHeads }, (_, h) => x.map((row) => row.slice(h * dHead, (h + 1) * dHead)));
}

export const mergeHeads = (heads) => heads[0].map((_, i) => heads.flatMap((head) => head[i]));
