// What the machine computes, step by step, with the sums of its panels. Beside machine.py.
import { shown } from "./engine/numbers.js";
import { matmul, transposed, linear, mean } from "./engine/ops.js";
import { attention, splitHeads } from "./engine/attention.js";
import { embed, encode, decode, scaleOf, softmaxOf } from "./engine/model.js";
import {
  num,
  plus,
  times,
  over,
  minus,
  root,
  chain,
  productSum,
  weightedSumRow,
  addSum,
  divideSum,
  reluSum,
  softmaxSum,
} from "./page/sums.js";

// ---------------------------------------------------------------- names: "enc.w_q.0.1" is a cell of a matrix

// All cells of an array, which may be a matrix or one row: [name, value]
export const cellsByName = (name, array) =>
  array.flatMap((part, i) =>
    Array.isArray(part) ? part.map((value, j) => [`${name}.${i}.${j}`, value]) : [[`${name}.${i}`, part]],
  );

// The arrays with the values of a state
export const filledIn = (matrices, state) =>
  Object.fromEntries(
    Object.entries(matrices).map(([name, array]) => [
      name,
      array.map((part, i) =>
        Array.isArray(part) ? part.map((_, j) => state[`${name}.${i}.${j}`]) : state[`${name}.${i}`],
      ),
    ]),
  );

// The parameters as the engine knows them, of arrays by their names
export function parameters(m) {
  const some = (part, names) => Object.fromEntries(names.map((name) => [name, m[`${part}.${name}`]]));
  const multiHead = (part) => some(part, ["w_q", "w_k", "w_v", "w_o"]);
  const norm = (side, mark = "") => ({ gamma: m[`${side}.gamma${mark}`], beta: m[`${side}.beta${mark}`] });
  const feedForward = (side) => some(side, ["w_1", "b_1", "w_2", "b_2"]);
  return {
    src_embedding: m.src,
    encoder: [
      {
        self_attention: multiHead("enc"),
        norm_1: norm("enc", "_1"),
        feed_forward: feedForward("enc"),
        norm_2: norm("enc", "_2"),
      },
    ],
    encoder_norm: norm("enc"),
    tgt_embedding: m.tgt,
    decoder: [
      {
        self_attention: multiHead("dec"),
        norm_1: norm("dec", "_1"),
        cross_attention: multiHead("cross"),
        norm_2: norm("dec", "_2"),
        feed_forward: feedForward("dec"),
        norm_3: norm("dec", "_3"),
      },
    ],
    decoder_norm: norm("dec"),
    output: { weight: m["out.w"], bias: m["out.b"] },
  };
}

// ---------------------------------------------------------------- sums that only this page has

// x W + b, one entry
function affineSum(where, x, column, bias, value) {
  const products = x.map((v, k) => num(v * column[k]));
  const pairs = x.map((v, k) => times(num(v), num(column[k])));
  return chain(where, [plus([...pairs, num(bias)]), plus([...products, num(bias)]), num(value)]);
}

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

// A score divided by the root of the head's width
const rootSum = (where, score, width, value) =>
  chain(where, [over(num(score), root(num(width))), over(num(score), num(Math.sqrt(width))), num(value)]);

// ---------------------------------------------------------------- the steps

// What is computed, step by step, from parameters and switches: for each key its numbers, what it was made of (other
// keys, and which of their cells light up), and the sum of an entry. Steps that the switches leave out are not there.
export function computed({ data, params: p, cfg, positions, state }) {
  const steps = new Map();
  const put = (key, value, from, sum, labels = {}) => {
    steps.set(key, { value, from, sum, ...labels });
    return key;
  };
  const itself = (value) => (where, i, j) => chain(where, [num(value[i][j])]);

  // Embeddings and positions; returns the key of the sum
  function rows(side, trace, labels) {
    const { embedded, x } = trace;
    put(`${side}.E`, embedded, [], itself(embedded), labels);
    if (!cfg.positions) return `${side}.E`;
    const table = positions.slice(0, x.length);
    put(`${side}.PE`, table, [], itself(table), labels);
    return put(
      `${side}.X`,
      x,
      [
        [`${side}.E`, "ijr"],
        [`${side}.PE`, "ijc"],
      ],
      (where, i, j) => addSum(where, embedded[i][j], table[i][j], x[i][j]),
      labels,
    );
  }

  function attend(part, weights, trace, xKey, memoryKey, { asks, asked, heads = cfg.n_heads, out = null }) {
    const [x, memory, width] = [trace.x, trace.memory, trace.attention[0].q[0].length];
    for (let h = 0; h < heads; h += 1) {
      const { q, k, v, scaled_scores: scaledScores, attn_weights: a, mask } = trace.attention[h];
      const key = (name) => `${part}.${name}${h + 1}`;
      const column = (w, j) => w.map((row) => row[h * width + j]);
      for (const [name, made, of, ofKey, w, labels] of [
        ["Q", q, x, xKey, weights.w_q, asks],
        ["K", k, memory, memoryKey, weights.w_k, asked],
        ["V", v, memory, memoryKey, weights.w_v, asked],
      ]) {
        put(key(name), made, [[ofKey, "i*r"]], (where, i, j) => productSum(where, of[i], column(w, j), made[i][j]), {
          rows: labels,
        });
      }
      const labels = { rows: asks, cols: asked };
      const scores = matmul(q, transposed(k));
      put(
        key("S"),
        scores,
        [
          [key("Q"), "i*r"],
          [key("K"), "j*c"],
        ],
        (where, i, j) => productSum(where, q[i], k[j], scores[i][j]),
        labels,
      );
      let seen = put(
        key("scaled"),
        scaledScores,
        [[key("S"), "ijr"]],
        (where, i, j) =>
          scaleOf(cfg) === undefined
            ? rootSum(where, scores[i][j], width, scaledScores[i][j])
            : divideSum(where, scores[i][j], state.divisor, scaledScores[i][j]),
        { ...labels, divisor: scaleOf(cfg) === undefined ? `√${width}` : shown(state.divisor) },
      );
      let masked = scaledScores;
      if (mask && mask.length > 1) {
        masked = scaledScores.map((row, i) => row.map((score, j) => (mask[i][j] ? score : -Infinity)));
        seen = put(
          key("masked"),
          masked,
          [[key("scaled"), "ijr"]],
          (where, i, j) => addSum(where, scaledScores[i][j], mask[i][j] ? 0 : -Infinity, masked[i][j]),
          { ...labels, hides: true },
        );
      }
      put(
        key("A"),
        a,
        [[seen, "i*r,ijc"]],
        (where, i, j) => softmaxSum(where, masked[i], j, a[i][j], { subtractMax: cfg.softmax !== "naive", sci: true }),
        { ...labels, sci: true },
      );
      const head = trace.heads.map((row) => row.slice(h * width, (h + 1) * width));
      put(
        key("head"),
        head,
        [
          [key("A"), "i*r"],
          [key("V"), "**c"],
        ],
        (where, i) => weightedSumRow(asks[i], a[i], v, head[i]),
        { rows: asks },
      );
    }
    if (heads < cfg.n_heads) return null;
    const from = trace.attention.map((_, h) => [`${part}.head${h + 1}`, "ijr", h * width]);
    put(`${part}.heads`, trace.heads, from, itself(trace.heads), { rows: asks });
    return put(
      `${part}.Z`,
      out,
      [[`${part}.heads`, "i*r"]],
      (where, i, j) =>
        productSum(
          where,
          trace.heads[i],
          weights.w_o.map((row) => row[j]),
          out[i][j],
        ),
      { rows: asks },
    );
  }

  function feedForward(part, weights, trace, xKey, out, labels) {
    const { x, before, hidden } = trace;
    put(
      `${part}.before`,
      before,
      [[xKey, "i*r"]],
      (where, i, j) =>
        affineSum(
          where,
          x[i],
          weights.w_1.map((row) => row[j]),
          weights.b_1[j],
          before[i][j],
        ),
      labels,
    );
    put(
      `${part}.hidden`,
      hidden,
      [[`${part}.before`, "ijr"]],
      (where, i, j) => reluSum(where, before[i][j], hidden[i][j]),
      labels,
    );
    return put(
      `${part}.F`,
      out,
      [[`${part}.hidden`, "i*r"]],
      (where, i, j) =>
        affineSum(
          where,
          hidden[i],
          weights.w_2.map((row) => row[j]),
          weights.b_2[j],
          out[i][j],
        ),
      labels,
    );
  }

  const norm = (key, { gamma, beta }, x, xKey, out, labels) =>
    put(
      key,
      out,
      [[xKey, "i*r,ijc"]],
      (where, i, j) => normSum(where, x[i], j, gamma[j], beta[j], cfg.eps, out[i][j]),
      labels,
    );

  // A sub-layer with what the switches leave of "add" and "norm"
  function sublayer(part, trace, p, xKey, labels, inside) {
    const first = cfg.norm === "pre" ? norm(`${part}.N`, p, trace.x, xKey, trace.inner.x, labels) : xKey;
    let key = inside(first);
    if (cfg.residual) {
      key = put(
        `${part}.T`,
        trace.total,
        [
          [xKey, "ijr"],
          [key, "ijc"],
        ],
        (where, i, j) => addSum(where, trace.x[i][j], trace.inner_out[i][j], trace.total[i][j]),
        labels,
      );
    }
    return cfg.norm === "post" ? norm(`${part}.U`, p, trace.total, key, trace.out, labels) : key;
  }

  // The end of a stack
  const last = (side, p, trace, key, labels) =>
    cfg.norm === "pre" ? norm(`${side}.last`, p, trace.layers[0].out, key, trace.out, labels) : key;

  const [source, target] = [data.source, data.target.slice(0, Number(state.target ?? 1))];
  const ids = source.map((_, i) => i);
  const [inEncoder, inDecoder] = [{ rows: source }, { rows: target }];
  if (data.until) {
    const weights = p.encoder[0].self_attention;
    const [embedded, x] = embed(p.src_embedding, cfg, ids, positions);
    const [q, k, v] = ["w_q", "w_k", "w_v"].map((w) => splitHeads(matmul(x, weights[w]), cfg.n_heads)[0]);
    const [heads, trace] = attention(q, k, v, { scale: scaleOf(cfg), rowSoftmax: softmaxOf(cfg) });
    const key = rows("enc", { embedded, x }, inEncoder);
    attend("enc.att", weights, { x, memory: x, attention: [trace], heads }, key, key, {
      asks: source,
      asked: source,
      heads: 1,
    });
    return steps;
  }
  const [encoder_norm, decoder_norm] = cfg.norm === "pre" ? [p.encoder_norm, p.decoder_norm] : [null, null];
  const [memory, encoder] = encode({ ...p, encoder_norm }, cfg, ids, positions.slice(0, source.length));
  const read = data.ids.slice(0, target.length);
  const [out, decoder] = decode({ ...p, decoder_norm }, cfg, read, memory, positions.slice(0, target.length));
  const logits = linear(p.output, out);

  const [enc, dec] = [p.encoder[0], p.decoder[0]];
  const [encTrace, decTrace] = [encoder.layers[0], decoder.layers[0]];
  let key = rows("enc", encoder, inEncoder);
  key = sublayer("enc.att", encTrace.self_attention, enc.norm_1, key, inEncoder, (first) =>
    attend("enc.att", enc.self_attention, encTrace.self_attention.inner, first, first, {
      asks: source,
      asked: source,
      out: encTrace.self_attention.inner_out,
    }),
  );
  key = sublayer("enc.ff", encTrace.feed_forward, enc.norm_2, key, inEncoder, (first) =>
    feedForward(
      "enc.ff",
      enc.feed_forward,
      encTrace.feed_forward.inner,
      first,
      encTrace.feed_forward.inner_out,
      inEncoder,
    ),
  );
  const memoryKey = last("enc", p.encoder_norm, encoder, key, inEncoder);
  key = rows("dec", decoder, inDecoder);
  key = sublayer("dec.att", decTrace.self_attention, dec.norm_1, key, inDecoder, (first) =>
    attend("dec.att", dec.self_attention, decTrace.self_attention.inner, first, first, {
      asks: target,
      asked: target,
      out: decTrace.self_attention.inner_out,
    }),
  );
  key = sublayer("dec.cross", decTrace.cross_attention, dec.norm_2, key, inDecoder, (first) =>
    attend("dec.cross", dec.cross_attention, decTrace.cross_attention.inner, first, memoryKey, {
      asks: target,
      asked: source,
      out: decTrace.cross_attention.inner_out,
    }),
  );
  key = sublayer("dec.ff", decTrace.feed_forward, dec.norm_3, key, inDecoder, (first) =>
    feedForward(
      "dec.ff",
      dec.feed_forward,
      decTrace.feed_forward.inner,
      first,
      decTrace.feed_forward.inner_out,
      inDecoder,
    ),
  );
  key = last("dec", p.decoder_norm, decoder, key, inDecoder);
  const scores = matmul(out, p.output.weight);
  put(
    "out.scores",
    scores,
    [[key, "i*r"]],
    (where, i, j) =>
      productSum(
        where,
        out[i],
        p.output.weight.map((row) => row[j]),
        scores[i][j],
      ),
    inDecoder,
  );
  put(
    "out.logits",
    logits,
    [["out.scores", "ijr"]],
    (where, i, j) => addSum(where, scores[i][j], p.output.bias[j], logits[i][j]),
    inDecoder,
  );
  const probabilities = logits.map(softmaxOf(cfg));
  put(
    "out.p",
    probabilities,
    [["out.logits", "i*r,ijc"]],
    (where, i, j) => softmaxSum(where, logits[i], j, probabilities[i][j], { subtractMax: cfg.softmax !== "naive" }),
    inDecoder,
  );
  return steps;
}
