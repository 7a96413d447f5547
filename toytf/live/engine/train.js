// A translator learns, step by step. Beside toytf/train.py and toytf/translator.py.
import { Generator } from "./random.js";
import { Model, batches, packed, toBatch } from "./learning.js";
import { Adam, cosineSchedule } from "./optim.js";

const [SLICE, PICTURE] = [30, 60]; // milliseconds: of work without a pause; from one report to the next, to be seen

// ---------------------------------------------------------------- the loop

// Every step's loss; at step 0 and then `every` so many steps a report too: the loss on pairs that it never learns from,
// and what it answers to some sentences. `start` and `dice` are states of NumPy's generators: one draws the weights and
// the order of the pairs, the other what dropout sets to zero.
export function* learn({ cfg, start, dice, dropout, pairs, unseen, sentences, ends, every, ...how }) {
  const rng = new Generator(start);
  const thins = new Generator(dice);
  const model = new Model(cfg, rng);
  const test = toBatch(unseen, ends.sos, ends.eos);
  const stream = batches(pairs, how.batchSize, rng, ends);
  const rate = cosineSchedule(how.learningRate, Math.min(how.warmup, how.steps), how.steps);
  const adam = new Adam(model.count);
  const report = () => ({ unseen: model.loss(test), answers: greedy(model, sentences, ends) });
  yield { step: 0, ...report() };
  for (let step = 1; step <= how.steps; step += 1) {
    const batch = stream.next().value;
    const loss = dropout ? withDropout(model, batch, thins, dropout) : model.lossAndGradients(batch);
    adam.step(model.numbers, model.gradients, rate(step));
    yield { step, loss, ...(step % every === 0 ? report() : {}) };
  }
}

// A share of the embeddings' entries becomes 0, the others are divided by what is left, for this step alone.
function withDropout(model, batch, rng, dropped) {
  const { numbers, params } = model;
  const tables = [params.src_embedding, params.tgt_embedding].map(({ at, rows, cols }) => {
    const kept = Float64Array.from({ length: rows * cols }, () => (rng.random() >= dropped ? 1 / (1 - dropped) : 0));
    return { at, kept, whole: numbers.slice(at, at + kept.length) };
  });
  for (const { at, kept } of tables) kept.forEach((factor, i) => (numbers[at + i] *= factor));
  const loss = model.lossAndGradients(batch);
  const { gradients } = model;
  for (const { at, kept, whole } of tables) {
    model.numbers.set(whole, at); // the heap may have grown
    kept.forEach((factor, i) => (gradients[at + i] *= factor)); // the chain rule: the same factor
  }
  return loss;
}

// ---------------------------------------------------------------- writing

// The most probable token at every step, for all sentences side by side: their ids, <eos> included, and where each token
// looked: for each head a row of weights
function greedy(model, sentences, { sos, eos }) {
  const written = sentences.map(() => []);
  const isDone = (ids, s) => ids.at(-1) === eos || ids.length === 2 * sentences[s].length + 4;
  const src = packed(sentences);
  model.begin();
  const [memory] = model.encode(src);
  for (;;) {
    const tgt = packed(written.map((ids) => [sos, ...ids]));
    const [rows, layers] = model.decode(tgt, memory, src.ends);
    const { at, cols } = model.linear(model.params.output.weight, model.params.output.bias, rows);
    written.forEach((ids, s) => {
      if (isDone(ids, s)) return;
      const end = at + tgt.ends[s] * cols;
      ids.push(largestAt(model.heap.subarray(end - cols, end)));
    });
    if (written.every(isDone)) return looks(model, layers.at(-1).cross, written);
  }
}

const largestAt = (row) => row.reduce((best, x, i) => (x > row[best] ? i : best), 0);

function looks(model, { asks, asked, weights }, written) {
  const answers = written.map((ids) => ({ ids, heads: [] }));
  let s = 0;
  model.visitHeads(asks, asked, 0, (from, to, at, n, m) => {
    const row = (_, t) => Array.from(model.heap.subarray(weights.at + at + t * m, weights.at + at + (t + 1) * m));
    answers[s].heads.push(Array.from(written[s], row));
    if (answers[s].heads.length === model.cfg.n_heads) s += 1;
  });
  return answers;
}

// ---------------------------------------------------------------- in slices

// Pairs as a page has them (live/training.py): a letter for each id
export function pairsOf(text) {
  const words = text.split(" ").map((word) => Array.from(word, (letter) => letter.charCodeAt(0) - 46));
  return Array.from({ length: words.length / 2 }, (_, i) => words.slice(2 * i, 2 * i + 2));
}

// Takes messages: { run, ...what `learn` takes } begins a run, { going: false } stops it and { going: true } goes on.
// Sends { run, steps, done }, the steps of a slice. The same in a worker and in the page, where it leaves it time.
export function learner(send) {
  let [run, steps, timer, pictured] = [0, null, 0, 0];

  function slice() {
    const [begun, made] = [performance.now(), []];
    let next;
    do {
      next = steps.next();
      if (!next.done) made.push(next.value);
    } while (!next.done && !made.at(-1).answers && performance.now() < begun + SLICE);
    const early = made.at(-1)?.answers ? PICTURE - (begun - pictured) : 0;
    if (made.at(-1)?.answers) pictured = performance.now();
    if (!next.done) timer = setTimeout(slice, Math.max(0, early)); // whoever is told may stop it
    send({ run, steps: made, done: next.done });
  }

  return ({ going = true, ...what }) => {
    clearTimeout(timer);
    if (what.run) {
      const pairs = pairsOf(what.pairs).slice(0, what.most);
      [run, steps] = [what.run, learn({ ...what, pairs, unseen: pairsOf(what.unseen) })];
    }
    if (going) slice();
  };
}
