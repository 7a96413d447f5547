// Writing a sentence, one token after the other: greedy, beam search, sampling. Beside toytf/generate.py.
//
// All work on a step: a function that takes a state and the last token of each sentence, and returns the scores of
// the next token and the new state. A state is passed in and comes out, and is never changed.
import { linear, softmax, logSoftmax, sum } from "./ops.js";
import { encode, decode } from "./model.js";

// ---------------------------------------------------------------- one step of the model

// Each sentence's tokens so far, and the memory, which is the same for all; none without an encoder.
export function start(params, cfg, src = null) {
  const [memory] = src ? encode(params, cfg, src) : [null];
  return { ids: [[]], memory };
}

// The `cached` one computes the newest row alone: it asks the keys of the rows before it, which the last trace has.
export const stepper =
  (params, cfg, { cached = false } = {}) =>
  (state, last) => {
    const ids = state.ids.map((tokens, row) => [...tokens, last[row]]);
    const newest = (tokens, row) => decode(params, cfg, tokens.slice(-1), state.memory, state.decoders?.[row]);
    const read = ids.map(cached ? newest : (tokens) => decode(params, cfg, tokens, state.memory));
    const logits = read.map(([rows]) => linear(params.output, rows.slice(-1))[0]);
    return [logits, { ...state, ids, decoders: read.map(([, trace]) => trace) }];
  };

// The state of some of the sentences, in the order of `rows`, repeated if repeated there
export const take = (state, rows) => ({
  ...state,
  ids: rows.map((row) => state.ids[row]),
  decoders: state.decoders && rows.map((row) => state.decoders[row]),
});

// ---------------------------------------------------------------- choosing tokens

// All ids, that of the largest number first
export const order = (row) => row.map((_, i) => i).sort((a, b) => row[b] - row[a]);

export const largestAt = (row) => row.reduce((best, x, i) => (x > row[best] ? i : best), 0);

// The most probable token at every step. Each step is handed out as it is taken: token, scores, state.
export function* greedySteps(step, state, { sos, eos, maxLength }) {
  let last = sos;
  for (let t = 0; t < maxLength && last !== eos; t += 1) {
    let logits;
    [logits, state] = step(state, [last]);
    last = largestAt(logits[0]);
    yield { token: last, logits: logits[0], state };
  }
}

export function greedy(step, state, ends) {
  const steps = [...greedySteps(step, state, ends)];
  const logProb = sum(steps.map(({ token, logits }) => logSoftmax(logits)[token]));
  return hypothesis(
    steps.map(({ token }) => token),
    logProb,
    steps.at(-1).token === ends.eos,
  );
}

const hypothesis = (ids, logProb, ended, penalty = 0) => ({
  ids,
  log_prob: logProb,
  ended,
  score: logProb / ((5 + ids.length) / 6) ** penalty,
});

// The `width` best sentences so far, at every step. All continuations of all kept sentences compete; those that
// end are set aside. Each step is handed out: all candidates, best first, and what became of them; in the end the best.
export function* beamSteps(step, state, { sos, eos, maxLength, width, lengthPenalty = 0 }) {
  let alive = [{ ids: [], logProb: 0 }];
  const done = [];
  for (let t = 0; t < maxLength; t += 1) {
    let logits;
    [logits, state] = step(
      state,
      alive.map(({ ids }) => ids.at(-1) ?? sos),
    );
    const candidates = logits.flatMap((row, parent) =>
      logSoftmax(row).map((gained, token) => ({
        parent,
        token,
        ids: [...alive[parent].ids, token],
        logProb: alive[parent].logProb + gained,
      })),
    );
    candidates.sort((a, b) => b.logProb - a.logProb);
    const best = candidates.slice(0, width);
    const ended = best.filter(({ token }) => token === eos);
    done.push(...ended.map(({ ids, logProb }) => hypothesis(ids, logProb, true, lengthPenalty)));
    alive = best.filter(({ token }) => token !== eos);
    yield { candidates, best, alive, done: [...done], state };
    // a log-probability only falls as a sentence grows: none that goes on can overtake
    const overtakes = (one) => lengthPenalty || !done.some((h) => h.log_prob >= one.logProb);
    if (!alive.some(overtakes)) break;
    state = take(
      state,
      alive.map(({ parent }) => parent),
    );
  }
  const cut = alive.map(({ ids, logProb }) => hypothesis(ids, logProb, false, lengthPenalty));
  return (done.length ? done : cut).reduce((a, b) => (b.score > a.score ? b : a));
}

// ---------------------------------------------------------------- drawing

// The ids that may be drawn, the most probable first
function keptTokens(probs, topK = null, topP = null) {
  let best = order(probs);
  if (topK !== null) best = best.slice(0, topK);
  if (topP !== null) {
    const wanted = topP * sum(best.map((i) => probs[i])) * (1 - 1e-12);
    let reached = 0;
    best = best.slice(0, best.findIndex((i) => (reached += probs[i]) >= wanted) + 1);
  }
  return best;
}

// What is drawn from these scores with `u`, a random number from 0 to 1; with all shares, for the page
export function draw(logits, u, { temperature = 1, topK = null, topP = null } = {}) {
  const probs = softmax(logits.map((x) => x / temperature));
  const kept = keptTokens(probs, topK, topP);
  const total = sum(kept.map((i) => probs[i]));
  const shares = kept.map((i) => probs[i] / total);
  let reached = 0;
  const at = shares.findIndex((share) => (reached += share) > u);
  return { token: kept[at < 0 ? kept.length - 1 : at], probs, kept, shares };
}
