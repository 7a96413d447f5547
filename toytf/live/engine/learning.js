// The Transformer that learns: forward, loss and backward for a whole batch. Beside toytf/model.py, with its names.
//
// model.js shows numbers and is nested and readable; this one trains, and is packed and fast. All numbers stand in one
// Float64Array, the heap: parameters, their gradients `count` places further on, then what a step computes, which is
// forgotten when the next one begins. A matrix is where it begins, its rows and its columns. The sentences of a batch
// stand one below the other, nothing is filled up: `ends` says where each is over. It knows the paper's form alone:
// norm behind each sub-layer, relu, no biases in attention.
import { sinusoids } from "./positions.js";

// ---------------------------------------------------------------- products

// out = a b, or out += a b. Each begins somewhere in the heap; its entry [i, j] stands `i * row + j * col` further on, so
// that a transposed matrix is one with its steps exchanged. Three rows by four columns are summed up at a time, and of a
// last tile only the rows that are there are written. Here every name is a number of its own, and few of them change
// inside: lists made and taken apart would double the time, a pointer for each row costs a tenth of it.
function product(h, out, outRow, a, aRow, aCol, b, bRow, bCol, n, inner, m, add) {
  const fours = m & ~3;
  for (let i = 0; i < n; i += 3) {
    const first = a + i * aRow;
    const end = first + inner * aCol;
    const second = i + 1 < n ? aRow : 0; // how much further on
    const third = i + 2 < n ? 2 * aRow : 0;
    const at = out + i * outRow;
    for (let j = 0; j < fours; j += 4) {
      let s0 = 0,
        s1 = 0,
        s2 = 0,
        s3 = 0,
        t0 = 0,
        t1 = 0,
        t2 = 0,
        t3 = 0,
        u0 = 0,
        u1 = 0,
        u2 = 0,
        u3 = 0;
      for (let x = first, z = b + j * bCol; x !== end; x += aCol, z += bRow) {
        const p = h[x];
        const q = h[x + second];
        const r = h[x + third];
        let c = h[z];
        s0 += p * c;
        t0 += q * c;
        u0 += r * c;
        c = h[z + bCol];
        s1 += p * c;
        t1 += q * c;
        u1 += r * c;
        c = h[z + 2 * bCol];
        s2 += p * c;
        t2 += q * c;
        u2 += r * c;
        c = h[z + 3 * bCol];
        s3 += p * c;
        t3 += q * c;
        u3 += r * c;
      }
      write(h, at + j, add, s0, s1, s2, s3);
      if (second) write(h, at + outRow + j, add, t0, t1, t2, t3);
      if (third) write(h, at + 2 * outRow + j, add, u0, u1, u2, u3);
    }
    for (let j = fours; j < m; j += 1) {
      for (let row = 0; row < 3 && i + row < n; row += 1) {
        let s = 0;
        const [x, z, to] = [first + row * aRow, b + j * bCol, at + row * outRow + j];
        for (let k = 0; k < inner; k += 1) s += h[x + k * aCol] * h[z + k * bRow];
        h[to] = add ? h[to] + s : s;
      }
    }
  }
}

function write(h, to, add, p, q, r, s) {
  h[to] = add ? h[to] + p : p;
  h[to + 1] = add ? h[to + 1] + q : q;
  h[to + 2] = add ? h[to + 2] + r : r;
  h[to + 3] = add ? h[to + 3] + s : s;
}

// ---------------------------------------------------------------- the model

export class Model {
  // `rng` draws the parameters as toytf.parameters.init does, in its order: cross-attention before self-attention
  constructor(cfg, rng) {
    const [d, width] = [cfg.d_model, cfg.n_heads * (cfg.d_head ?? cfg.d_model / cfg.n_heads)];
    this.cfg = cfg;
    this.top = 0;
    this.heap = new Float64Array(1 << 16);
    const filled = (rows, cols, draw) => {
      const made = this.matrix(rows, cols);
      for (let i = made.at; i < this.top; i += 1) this.heap[i] = draw();
      return made;
    };
    const table = (rows) => filled(rows, d, () => rng.normal() * d ** -0.5);
    const zeros = (cols) => filled(1, cols, () => 0);
    const norm = () => ({ gamma: filled(1, d, () => 1), beta: zeros(d) });
    const drawn = (rows, cols) => {
      const a = Math.sqrt(6 / (rows + cols));
      return filled(rows, cols, () => rng.uniform(-a, a));
    };
    const attention = () => {
      const [q, k, v] = [drawn(d, width), drawn(d, width), drawn(d, width)];
      return { w_q: q, w_k: k, w_v: v, w_o: drawn(width, d) };
    };
    const feedForward = () => ({
      w_1: drawn(d, cfg.d_ff),
      b_1: zeros(cfg.d_ff),
      w_2: drawn(cfg.d_ff, d),
      b_2: zeros(d),
    });
    const encoderLayer = () => ({
      self_attention: attention(),
      norm_1: norm(),
      feed_forward: feedForward(),
      norm_2: norm(),
    });
    const decoderLayer = () => {
      const [cross, norm2] = [attention(), norm()];
      const [self, norm1] = [attention(), norm()];
      const last = { feed_forward: feedForward(), norm_3: norm() };
      return { self_attention: self, norm_1: norm1, cross_attention: cross, norm_2: norm2, ...last };
    };
    this.params = {
      src_embedding: table(cfg.src_vocab),
      encoder: Array.from({ length: cfg.n_encoder_layers }, encoderLayer),
      tgt_embedding: table(cfg.tgt_vocab),
      decoder: Array.from({ length: cfg.n_decoder_layers }, decoderLayer),
      output: { weight: drawn(d, cfg.tgt_vocab), bias: zeros(cfg.tgt_vocab) },
    };
    this.count = this.top;
    this.positions = new Float64Array(0);
  }

  // Rows and columns in the heap; what stands there is left over from the step before
  matrix(rows, cols) {
    const at = this.top;
    this.top += rows * cols;
    if (this.top > this.heap.length) {
      const larger = new Float64Array(2 * this.top);
      larger.set(this.heap);
      this.heap = larger;
    }
    return { at, rows, cols };
  }

  // All that the step before computed is forgotten.
  begin() {
    this.top = 2 * this.count;
  }

  // All parameters, and all gradients, in the order in which they were drawn
  get numbers() {
    return this.heap.subarray(0, this.count);
  }
  get gradients() {
    return this.heap.subarray(this.count, 2 * this.count);
  }

  // ---------------------------------------------------------------- linear map, embedding

  // y = x W + b
  linear(weight, bias, x) {
    const y = this.matrix(x.rows, weight.cols);
    const h = this.heap;
    if (bias) for (let i = 0; i < x.rows; i += 1) h.copyWithin(y.at + i * y.cols, bias.at, bias.at + y.cols);
    product(h, y.at, y.cols, x.at, x.cols, 1, weight.at, weight.cols, 1, x.rows, x.cols, y.cols, Boolean(bias));
    return y;
  }

  // dx = dout W^T, dW = x^T dout, db = sum of dout; with `dx`, it is added there
  linearBackward(weight, bias, x, dout, dx = null) {
    const into = dx ?? this.matrix(x.rows, x.cols);
    const [h, dweight] = [this.heap, weight.at + this.count];
    product(h, into.at, x.cols, dout.at, dout.cols, 1, weight.at, 1, dout.cols, x.rows, dout.cols, x.cols, dx !== null);
    product(h, dweight, dout.cols, x.at, 1, x.cols, dout.at, dout.cols, 1, x.cols, x.rows, dout.cols, true);
    if (bias) this.addRows(bias.at + this.count, dout);
    return into;
  }

  // Adds all rows to what stands at a place
  addRows(to, { at, rows, cols }) {
    const h = this.heap;
    for (let i = 0; i < rows * cols; i += cols) for (let j = 0; j < cols; j += 1) h[to + j] += h[at + i + j];
  }

  // sqrt(d_model) * table[ids] + PE
  embed(table, { ids, ends }) {
    const x = this.matrix(ids.length, table.cols);
    const [h, d, scale] = [this.heap, table.cols, Math.sqrt(table.cols)];
    if (this.positions.length < ids.length * d) this.positions = Float64Array.from(sinusoids(ids.length, d).flat());
    for (let s = 0, i = 0; s < ends.length; s += 1) {
      for (let pos = 0; i < ends[s]; i += 1, pos += 1) {
        const [to, from, at] = [x.at + i * d, table.at + ids[i] * d, pos * d];
        for (let j = 0; j < d; j += 1) h[to + j] = scale * h[from + j] + this.positions[at + j];
      }
    }
    return x;
  }

  embedBackward(table, { ids }, dx) {
    const [h, d, scale] = [this.heap, table.cols, Math.sqrt(table.cols)];
    for (let i = 0; i < ids.length; i += 1) {
      const [to, from] = [table.at + this.count + ids[i] * d, dx.at + i * d];
      for (let j = 0; j < d; j += 1) h[to + j] += scale * h[from + j];
    }
  }

  // ---------------------------------------------------------------- layer norm, behind a residual connection

  // norm(x + y), where y is what the sub-layer gave; the sum takes its place
  addAndNorm(norm, x, y) {
    const [normalised, std, out] = [this.matrix(x.rows, x.cols), this.matrix(x.rows, 1), this.matrix(x.rows, x.cols)];
    const { heap: h, cfg } = this;
    const [d, gamma, beta] = [x.cols, norm.gamma.at, norm.beta.at];
    for (let i = 0; i < x.rows; i += 1) {
      const at = normalised.at + i * d;
      const to = out.at + i * d;
      const from = x.at + i * d;
      const added = y.at + i * d;
      let total = 0;
      let squares = 0;
      for (let j = 0; j < d; j += 1) total += h[added + j] += h[from + j];
      const centre = total / d;
      for (let j = 0; j < d; j += 1) squares += (h[added + j] - centre) ** 2;
      const spread = (h[std.at + i] = Math.sqrt(squares / d + cfg.eps));
      for (let j = 0; j < d; j += 1) {
        h[at + j] = (h[added + j] - centre) / spread;
        h[to + j] = h[gamma + j] * h[at + j] + h[beta + j];
      }
    }
    return { normalised, std, out };
  }

  // g = dout gamma, dx = (g - mean(g) - normalised mean(g normalised)) / std
  normBackward(norm, { normalised, std }, dout) {
    const dx = this.matrix(dout.rows, dout.cols);
    const [h, d, gamma] = [this.heap, dout.cols, norm.gamma.at];
    const [dgamma, dbeta] = [gamma + this.count, norm.beta.at + this.count];
    for (let i = 0; i < dout.rows; i += 1) {
      const from = dout.at + i * d;
      const at = normalised.at + i * d;
      const to = dx.at + i * d;
      let mean = 0;
      let along = 0;
      for (let j = 0; j < d; j += 1) {
        const g = h[from + j] * h[gamma + j];
        mean += g;
        along += g * h[at + j];
        h[dgamma + j] += h[from + j] * h[at + j];
        h[dbeta + j] += h[from + j];
      }
      for (let j = 0; j < d; j += 1) {
        const g = h[from + j] * h[gamma + j];
        h[to + j] = (g - mean / d - (h[at + j] * along) / d) / h[std.at + i];
      }
    }
    return dx;
  }

  add(x, y) {
    const h = this.heap;
    for (let i = 0; i < x.rows * x.cols; i += 1) h[x.at + i] += h[y.at + i];
    return x;
  }

  // ---------------------------------------------------------------- feed-forward

  // relu(x W_1 + b_1) W_2 + b_2
  feedForward(p, x) {
    const hidden = this.linear(p.w_1, p.b_1, x);
    const h = this.heap;
    for (let i = hidden.at; i < hidden.at + x.rows * hidden.cols; i += 1) if (h[i] < 0) h[i] = 0;
    return [this.linear(p.w_2, p.b_2, hidden), { x, hidden }];
  }

  feedForwardBackward(p, { x, hidden }, dout) {
    const dhidden = this.linearBackward(p.w_2, p.b_2, hidden, dout);
    const h = this.heap;
    for (let i = 0; i < x.rows * hidden.cols; i += 1) if (!(h[hidden.at + i] > 0)) h[dhidden.at + i] = 0;
    return this.linearBackward(p.w_1, p.b_1, x, dhidden);
  }

  // ---------------------------------------------------------------- attention

  // Sentence after sentence, and in it head after head: where its queries begin and its keys, in matrices of that width,
  // where its weights begin, and how many queries and keys there are. Returns how many weights there are in all.
  visitHeads(asks, asked, width, visit) {
    const heads = this.cfg.n_heads;
    const dHead = width / heads;
    let [weights, from, to] = [0, 0, 0];
    for (let s = 0; s < asks.length; s += 1) {
      const [n, m] = [asks[s] - from, asked[s] - to];
      for (let head = 0; head < heads; head += 1, weights += n * m) {
        visit(from * width + head * dHead, to * width + head * dHead, weights, n, m);
      }
      [from, to] = [asks[s], asked[s]];
    }
    return weights;
  }

  // All heads' softmax(Q K^T / sqrt(d_k)) V side by side, times W^O. Sentence s asks sentence s of the memory.
  attention(p, x, asks, memory, asked, causal = false) {
    const [q, k, v] = [this.linear(p.w_q, null, x), this.linear(p.w_k, null, memory), this.linear(p.w_v, null, memory)];
    const width = q.cols;
    const dHead = width / this.cfg.n_heads;
    const scale = 1 / Math.sqrt(dHead);
    const weights = this.matrix(
      1,
      this.visitHeads(asks, asked, width, () => {}),
    );
    const heads = this.matrix(x.rows, width);
    const h = this.heap;
    this.visitHeads(asks, asked, width, (from, to, at, n, m) => {
      const a = weights.at + at;
      product(h, a, m, q.at + from, width, 1, k.at + to, 1, width, n, dHead, m, false);
      for (let i = 0; i < n; i += 1) softmax(h, a + i * m, causal ? i + 1 : m, m, scale);
      product(h, heads.at + from, width, a, m, 1, v.at + to, width, 1, n, m, dHead, false);
    });
    return [this.linear(p.w_o, null, heads), { x, asks, memory, asked, q, k, v, weights, heads }];
  }

  // dV = A^T dout, dA = dout V^T, dS = softmax_backward(A, dA) / sqrt(d_k), dQ = dS K, dK = dS^T Q; what comes back for
  // the memory is added to `dmemory`, in self-attention to dx
  attentionBackward(p, { x, asks, memory, asked, q, k, v, weights, heads }, dout, dmemory = null) {
    const dheads = this.linearBackward(p.w_o, null, heads, dout);
    const [dq, dk, dv] = [q, k, v].map(({ rows, cols }) => this.matrix(rows, cols));
    const width = q.cols;
    const dHead = width / this.cfg.n_heads;
    const scale = 1 / Math.sqrt(dHead);
    const ds = this.matrix(1, weights.cols).at; // room for all; each head takes the beginning
    const h = this.heap;
    this.visitHeads(asks, asked, width, (from, to, at, n, m) => {
      const a = weights.at + at;
      product(h, dv.at + to, width, a, 1, m, dheads.at + from, width, 1, m, n, dHead, false);
      product(h, ds, m, dheads.at + from, width, 1, v.at + to, 1, width, n, dHead, m, false);
      for (let i = 0; i < n * m; i += m) softmaxBackward(h, a + i, ds + i, m, scale);
      product(h, dq.at + from, width, ds, m, 1, k.at + to, width, 1, n, m, dHead, false);
      product(h, dk.at + to, width, ds, 1, m, q.at + from, width, 1, m, n, dHead, false);
    });
    const dx = this.linearBackward(p.w_q, null, x, dq);
    this.linearBackward(p.w_k, null, memory, dk, dmemory ?? dx);
    this.linearBackward(p.w_v, null, memory, dv, dmemory ?? dx);
    return dx;
  }

  // ---------------------------------------------------------------- encoder and decoder

  encode(src) {
    let rows = this.embed(this.params.src_embedding, src);
    const layers = this.params.encoder.map((p) => {
      const [attended, self] = this.attention(p.self_attention, rows, src.ends, rows, src.ends);
      const norm1 = this.addAndNorm(p.norm_1, rows, attended);
      const [fed, feed] = this.feedForward(p.feed_forward, norm1.out);
      const norm2 = this.addAndNorm(p.norm_2, norm1.out, fed);
      rows = norm2.out;
      return { self, norm1, feed, norm2 };
    });
    return [rows, layers];
  }

  encodeBackward(src, layers, dmemory) {
    let dx = dmemory;
    for (let i = layers.length - 1; i >= 0; i -= 1) {
      const [p, { self, norm1, feed, norm2 }] = [this.params.encoder[i], layers[i]];
      const dfed = this.normBackward(p.norm_2, norm2, dx);
      const dy = this.add(this.feedForwardBackward(p.feed_forward, feed, dfed), dfed);
      const dattended = this.normBackward(p.norm_1, norm1, dy);
      dx = this.add(this.attentionBackward(p.self_attention, self, dattended), dattended);
    }
    this.embedBackward(this.params.src_embedding, src, dx);
  }

  decode(tgt, memory, srcEnds) {
    let rows = this.embed(this.params.tgt_embedding, tgt);
    const layers = this.params.decoder.map((p) => {
      const [attended, self] = this.attention(p.self_attention, rows, tgt.ends, rows, tgt.ends, true);
      const norm1 = this.addAndNorm(p.norm_1, rows, attended);
      const [read, cross] = this.attention(p.cross_attention, norm1.out, tgt.ends, memory, srcEnds);
      const norm2 = this.addAndNorm(p.norm_2, norm1.out, read);
      const [fed, feed] = this.feedForward(p.feed_forward, norm2.out);
      const norm3 = this.addAndNorm(p.norm_3, norm2.out, fed);
      rows = norm3.out;
      return { self, norm1, cross, norm2, feed, norm3 };
    });
    return [rows, layers];
  }

  // The gradient of the memory, which every layer has read
  decodeBackward(tgt, layers, memory, drows) {
    const dmemory = this.matrix(memory.rows, memory.cols);
    this.heap.fill(0, dmemory.at, this.top);
    let dx = drows;
    for (let i = layers.length - 1; i >= 0; i -= 1) {
      const [p, { self, norm1, cross, norm2, feed, norm3 }] = [this.params.decoder[i], layers[i]];
      const dfed = this.normBackward(p.norm_3, norm3, dx);
      const dz = this.add(this.feedForwardBackward(p.feed_forward, feed, dfed), dfed);
      const dread = this.normBackward(p.norm_2, norm2, dz);
      const dy = this.add(this.attentionBackward(p.cross_attention, cross, dread, dmemory), dread);
      const dattended = this.normBackward(p.norm_1, norm1, dy);
      dx = this.add(this.attentionBackward(p.self_attention, self, dattended), dattended);
    }
    this.embedBackward(this.params.tgt_embedding, tgt, dx);
    return dmemory;
  }

  // A score for every word at every target place, and the trace, which holds until the next `begin`
  forward({ src, tgt }) {
    const [memory, encoder] = this.encode(src);
    const [rows, decoder] = this.decode(tgt, memory, src.ends);
    return [this.linear(this.params.output.weight, this.params.output.bias, rows), { memory, encoder, decoder, rows }];
  }

  // All gradients, at their places in the heap
  backward({ src, tgt }, { memory, encoder, decoder, rows }, dlogits) {
    const { weight, bias } = this.params.output;
    this.gradients.fill(0);
    const drows = this.linearBackward(weight, bias, rows, dlogits);
    this.encodeBackward(src, encoder, this.decodeBackward(tgt, decoder, memory, drows));
  }

  // ---------------------------------------------------------------- loss

  // mean over all places of -log softmax(logits)[goal]; the softmax takes the place of the logits
  crossEntropy(logits, goal) {
    const [h, { at, rows, cols }] = [this.heap, logits];
    let loss = 0;
    for (let i = 0; i < rows; i += 1) {
      const right = h[at + i * cols + goal[i]];
      loss += softmax(h, at + i * cols, cols, cols, 1) - right;
    }
    return loss / rows;
  }

  // What was said minus what was wanted, over the number of places
  crossEntropyBackward(probs, goal) {
    const [h, { at, rows, cols }] = [this.heap, probs];
    for (let i = 0; i < rows; i += 1) h[at + i * cols + goal[i]] -= 1;
    for (let i = at; i < at + rows * cols; i += 1) h[i] /= rows;
    return probs;
  }

  loss(batch) {
    this.begin();
    return this.crossEntropy(this.forward(batch)[0], batch.goal);
  }

  lossAndGradients(batch) {
    this.begin();
    const [logits, trace] = this.forward(batch);
    const loss = this.crossEntropy(logits, batch.goal);
    this.backward(batch, trace, this.crossEntropyBackward(logits, batch.goal));
    return loss;
  }
}

// Of the first `n` of `m` numbers, times `scale`; the others become 0. Returns the log of the sum of their powers of e.
function softmax(h, at, n, m, scale) {
  let largest = -Infinity;
  let total = 0;
  for (let j = at; j < at + n; j += 1) largest = Math.max(largest, (h[j] *= scale));
  for (let j = at; j < at + n; j += 1) total += h[j] = Math.exp(h[j] - largest);
  for (let j = at; j < at + n; j += 1) h[j] /= total;
  for (let j = at + n; j < at + m; j += 1) h[j] = 0;
  return largest + Math.log(total);
}

// dx[i] = a[i] (dout[i] - sum_j a[j] dout[j]), times `scale`; it takes the place of dout
function softmaxBackward(h, a, dout, m, scale) {
  let average = 0;
  for (let j = 0; j < m; j += 1) average += h[a + j] * h[dout + j];
  for (let j = 0; j < m; j += 1) h[dout + j] = h[a + j] * (h[dout + j] - average) * scale;
}

// ---------------------------------------------------------------- batches

// Sentences one below the other: their ids, and where each is over
export function packed(sentences) {
  const [ids, ends] = [Int32Array.from(sentences.flat()), new Int32Array(sentences.length)];
  sentences.forEach(({ length }, s) => (ends[s] = (ends[s - 1] ?? 0) + length));
  return { ids, ends };
}

// Pairs [src, tgt] of ids as a batch: the decoder reads <sos> and the words, and should say the words and <eos>
export function toBatch(pairs, sos, eos) {
  const tgt = packed(pairs.map(([, words]) => [sos, ...words]));
  return { src: packed(pairs.map(([src]) => src)), tgt, goal: Int32Array.from(pairs.flatMap(([, w]) => [...w, eos])) };
}

// Batches of shuffled pairs, without end: what is left over of an order opens the next one
export function* batches(pairs, size, rng, { sos, eos }) {
  let waiting = [];
  for (;;) {
    while (waiting.length < size) waiting.push(...rng.permutation(pairs.length));
    yield toBatch(
      waiting.slice(0, size).map((place) => pairs[place]),
      sos,
      eos,
    );
    waiting = waiting.slice(size);
  }
}
