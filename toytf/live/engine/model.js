// The Transformer: encoder, decoder, and the words at the end. Beside toytf/model.py.
//
// Parameters, sizes (`cfg`) and traces have the fields that they have there.
(() => {
  "use strict";
  const toytf = (globalThis.toytf ??= {});
  const { add, scaled, linear, embedding, relu, gelu, layerNorm, softmax, softmaxNaive, sinusoids, causalMask,
    multiHeadAttention } = toytf;
  const ACTIVATIONS = { relu, gelu };

  // ---------------------------------------------------------------- the parts

  // activation(x W_1 + b_1) W_2 + b_2
  function feedForward(p, x, activation = "relu") {
    const before = linear({ weight: p.w_1, bias: p.b_1 }, x);
    const hidden = before.map(ACTIVATIONS[activation]);
    return [linear({ weight: p.w_2, bias: p.b_2 }, hidden), { x, before, hidden }];
  }

  function normRows(p, x, eps) {
    const rows = x.map((row) => layerNorm(p, row, eps));
    return [rows.map(([out]) => out), { normalised: rows.map(([, t]) => t.normalised), std: rows.map(([, t]) => t.std) }];
  }

  // norm(x + sublayer(x)), and the other forms that cfg knows: norm first, no norm, no residual
  function addAndNorm(cfg, norm, x, sublayer) {
    let normTrace = null;
    let rows = x;
    if (cfg.norm === "pre") [rows, normTrace] = normRows(norm, x, cfg.eps);
    const [innerOut, inner] = sublayer(rows);
    const total = cfg.residual ? add(x, innerOut) : innerOut;
    let out = total;
    if (cfg.norm === "post") [out, normTrace] = normRows(norm, total, cfg.eps);
    return [out, { x, inner, inner_out: innerOut, total, norm: normTrace, out }];
  }

  const attend = (p, cfg, x, memory, mask) => multiHeadAttention(p, x, memory, {
    n_heads: cfg.n_heads, mask, scale: scaleOf(cfg), rowSoftmax: softmaxOf(cfg) });

  // `cfg.scale` is true (one over the root of the head's width) or false; here it may also be a number.
  const scaleOf = ({ scale }) => (typeof scale === "number" ? scale : scale ? undefined : 1);

  // `cfg.softmax` may be "naive": as it is usually typed, so that exp overflows. (In Python, toytf.ops.softmax_naive)
  const softmaxOf = (cfg) => (cfg.softmax === "naive" ? softmaxNaive : softmax);

  // y = norm_1(x + self_attention(x)), out = norm_2(y + feed_forward(y))
  function encoderLayer(p, cfg, x, mask = null) {
    const [y, attended] = addAndNorm(cfg, p.norm_1, x, (rows) => attend(p.self_attention, cfg, rows, null, mask));
    const [out, fed] = addAndNorm(cfg, p.norm_2, y, (rows) => feedForward(p.feed_forward, rows, cfg.activation));
    return [out, { self_attention: attended, feed_forward: fed, out }];
  }

  // y = norm_1(x + masked self_attention(x)), z = norm_2(y + cross_attention(y, memory)), out = norm_3(z + feed_forward(z))
  function decoderLayer(p, cfg, x, memory, mask = null, memoryMask = null) {
    let [y, attended] = addAndNorm(cfg, p.norm_1, x, (rows) => attend(p.self_attention, cfg, rows, null, mask));
    let read = null;
    if (p.cross_attention) {
      [y, read] = addAndNorm(cfg, p.norm_2, y, (rows) => attend(p.cross_attention, cfg, rows, memory, memoryMask));
    }
    const [out, fed] = addAndNorm(cfg, p.norm_3, y, (rows) => feedForward(p.feed_forward, rows, cfg.activation));
    return [out, { self_attention: attended, cross_attention: read, feed_forward: fed, out }];
  }

  // ---------------------------------------------------------------- the whole

  // sqrt(d_model) * table[ids] + PE; `positions` of one's own may stand in the place of the sinusoids
  function embed(table, cfg, ids, positions = null) {
    let embedded = embedding(table, ids);
    if (cfg.scale_embeddings) embedded = scaled(embedded, Math.sqrt(cfg.d_model));
    if (!cfg.positions) return [embedded, embedded];
    return [embedded, add(embedded, positions ?? sinusoids(ids.length, cfg.d_model))];
  }

  // A stack's last norm, which pre-norm models have.
  const lastNorm = (norm, cfg, x) => (norm ? normRows(norm, x, cfg.eps) : [x, null]);

  // ids to rows, the memory
  function encode(params, cfg, src, { mask = null, positions = null } = {}) {
    const [embedded, x] = embed(params.src_embedding, cfg, src, positions);
    const layers = [];
    let rows = x;
    for (const p of params.encoder) {
      const [out, trace] = encoderLayer(p, cfg, rows, mask);
      rows = out;
      layers.push(trace);
    }
    const [out, norm] = lastNorm(params.encoder_norm, cfg, rows);
    return [out, { ids: src, embedded, x, layers, last_norm: norm, out }];
  }

  // ids and memory to rows, one for the word after each token
  function decode(params, cfg, tgt, memory, { memoryMask = null, positions = null } = {}) {
    const [embedded, x] = embed(params.tgt_embedding, cfg, tgt, positions);
    const mask = cfg.causal ? causalMask(tgt.length) : null;
    const layers = [];
    let rows = x;
    for (const p of params.decoder) {
      const [out, trace] = decoderLayer(p, cfg, rows, memory, mask, memoryMask);
      rows = out;
      layers.push(trace);
    }
    const [out, norm] = lastNorm(params.decoder_norm, cfg, rows);
    return [out, { ids: tgt, embedded, x, layers, last_norm: norm, out }];
  }

  // The whole way: a score for every word of the vocabulary, at every target place
  function forward(params, cfg, src, tgt) {
    const [memory, encoder] = src ? encode(params, cfg, src) : [null, null];
    const [rows, decoder] = decode(params, cfg, tgt, memory);
    const logits = linear(params.output, rows);
    return [logits, { encoder, decoder, logits }];
  }

  Object.assign(toytf, { feedForward, addAndNorm, encoderLayer, decoderLayer, embed, encode, decode, forward,
    scaleOf, softmaxOf });
})();
