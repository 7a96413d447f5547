// The Transformer: encoder, decoder, and the words at the end. Beside toytf/model.py.
//
// Parameters, sizes (`cfg`) and traces have the fields that they have there.
import { add, scaled, linear, embedding, relu, layerNorm, softmax, softmaxNaive } from "./ops.js";
import { sinusoids } from "./positions.js";
import { causalMask, multiHeadAttention } from "./attention.js";

// ---------------------------------------------------------------- the parts

// relu(x W_1 + b_1) W_2 + b_2
function feedForward(p, x) {
  const before = linear({ weight: p.w_1, bias: p.b_1 }, x);
  const hidden = before.map(relu);
  return [linear({ weight: p.w_2, bias: p.b_2 }, hidden), { x, before, hidden }];
}

const normRows = (p, x, eps) => x.map((row) => layerNorm(p, row, eps));

// norm(x + sublayer(x)), and the other forms that cfg knows: norm first, no norm, no residual
function addAndNorm(cfg, norm, x, sublayer) {
  const [innerOut, inner] = sublayer(cfg.norm === "pre" ? normRows(norm, x, cfg.eps) : x);
  const total = cfg.residual ? add(x, innerOut) : innerOut;
  const out = cfg.norm === "post" ? normRows(norm, total, cfg.eps) : total;
  return [out, { x, inner, inner_out: innerOut, total, out }];
}

const attend = (p, cfg, x, memory, mask = null, past = null) =>
  multiHeadAttention(p, x, memory, {
    n_heads: cfg.n_heads,
    mask,
    past,
    scale: cfg.scale ? undefined : 1,
    rowSoftmax: softmaxOf(cfg),
  });

// `cfg.softmax` may be "naive": as it is usually typed, so that exp overflows. (In Python, toytf.ops.softmax_naive)
const softmaxOf = (cfg) => (cfg.softmax === "naive" ? softmaxNaive : softmax);

// y = norm_1(x + self_attention(x)), out = norm_2(y + feed_forward(y))
export function encoderLayer(p, cfg, x) {
  const [y, attended] = addAndNorm(cfg, p.norm_1, x, (rows) => attend(p.self_attention, cfg, rows, null));
  const [out, fed] = addAndNorm(cfg, p.norm_2, y, (rows) => feedForward(p.feed_forward, rows));
  return [out, { self_attention: attended, feed_forward: fed, out }];
}

// y = norm_1(x + masked self_attention(x)), z = norm_2(y + cross_attention(y, memory)), out = norm_3(z + feed_forward(z))
function decoderLayer(p, cfg, x, memory, mask, past) {
  const look = (rows) => attend(p.self_attention, cfg, rows, null, mask, past?.self_attention.inner.attention);
  let [y, attended] = addAndNorm(cfg, p.norm_1, x, look);
  let read = null;
  if (p.cross_attention) {
    [y, read] = addAndNorm(cfg, p.norm_2, y, (rows) => attend(p.cross_attention, cfg, rows, memory));
  }
  const [out, fed] = addAndNorm(cfg, p.norm_3, y, (rows) => feedForward(p.feed_forward, rows));
  return [out, { self_attention: attended, cross_attention: read, feed_forward: fed, out }];
}

// ---------------------------------------------------------------- the whole

// sqrt(d_model) * table[ids] + PE, the first at the position `begin`
function embed(table, cfg, ids, begin = 0) {
  let embedded = embedding(table, ids);
  if (cfg.scale_embeddings) embedded = scaled(embedded, Math.sqrt(cfg.d_model));
  if (!cfg.positions) return [embedded, embedded];
  return [embedded, add(embedded, sinusoids(ids.length, cfg.d_model, begin))];
}

// A stack's last norm, which pre-norm models have.
const lastNorm = (norm, cfg, x) => (norm ? normRows(norm, x, cfg.eps) : x);

// Layer after layer: the rows and all traces
function stacked(layers, x, layer) {
  const traces = [];
  let rows = x;
  for (const p of layers) {
    const [out, trace] = layer(p, rows, traces.length);
    rows = out;
    traces.push(trace);
  }
  return [rows, traces];
}

// ids to rows, the memory
export function encode(params, cfg, src) {
  const [embedded, x] = embed(params.src_embedding, cfg, src);
  const [rows, layers] = stacked(params.encoder, x, (p, into) => encoderLayer(p, cfg, into));
  const out = lastNorm(params.encoder_norm, cfg, rows);
  return [out, { embedded, x, layers, out }];
}

// ids and memory to rows, one for the word after each token. `past` is the trace of the tokens read before: it keeps
// their keys and values.
export function decode(params, cfg, tgt, memory, past = null) {
  const read = past ? past.layers[0].self_attention.inner.attention[0].k.length : 0;
  const [embedded, x] = embed(params.tgt_embedding, cfg, tgt, read);
  const mask = cfg.causal ? causalMask(tgt.length, read) : null;
  const layer = (p, into, i) => decoderLayer(p, cfg, into, memory, mask, past?.layers[i]);
  const [rows, layers] = stacked(params.decoder, x, layer);
  const out = lastNorm(params.decoder_norm, cfg, rows);
  return [out, { embedded, x, layers, out }];
}

// The whole way: a score for every word of the vocabulary, at every target place
export function forward(params, cfg, src, tgt) {
  const [memory, encoder] = src ? encode(params, cfg, src) : [null, null];
  const [rows, decoder] = decode(params, cfg, tgt, memory);
  const logits = linear(params.output, rows);
  return [logits, { encoder, decoder, logits }];
}
