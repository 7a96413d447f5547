"""The Transformer once more, with lists and loops of plain Python, each function as long as its formula.

Slow, and written to be compared with: `toytf` takes whole arrays at once, this one number after the other, and
its sums are exact until their last rounding. Matrices are lists of rows.
"""

import itertools
import math


def matmul(a, b):
    return [
        [math.fsum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*b, strict=True)] for row in a
    ]


def transposed(a):
    return [list(column) for column in zip(*a, strict=True)]


def add(a, b):
    return [[x + y for x, y in zip(row, other, strict=True)] for row, other in zip(a, b, strict=True)]


def times(a, factor):
    return [[x * factor for x in row] for row in a]


# ---------------------------------------------------------------- ops


def softmax(row):
    powers = [math.exp(x - max(row)) for x in row]
    return [p / math.fsum(powers) for p in powers]


def log_softmax(row):
    return [x - max(row) - math.log(math.fsum(math.exp(y - max(row)) for y in row)) for x in row]


def linear(x, weight, bias=None):
    y = matmul(x, weight)
    return y if bias is None else [[v + b for v, b in zip(row, bias, strict=True)] for row in y]


def relu(x):
    return max(0.0, x)


def bell_below(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def gelu(x):
    return x * bell_below(x)


def gelu_tanh(x):
    return x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def mean(row):
    return math.fsum(row) / len(row)


def normalised(row, eps):
    variance = mean([(x - mean(row)) ** 2 for x in row])
    return [(x - mean(row)) / math.sqrt(variance + eps) for x in row]


def layer_norm(row, gamma, beta, eps):
    return [g * y + b for g, y, b in zip(gamma, normalised(row, eps), beta, strict=True)]


def cross_entropy(logits, targets, counted, smoothing):
    losses = []
    for row, target, counts in zip(logits, targets, counted, strict=True):
        goal = [smoothing / len(row) + (1 - smoothing) * (word == target) for word in range(len(row))]
        if counts:
            losses.append(-math.fsum(g * p for g, p in zip(goal, log_softmax(row), strict=True)))
    return mean(losses)


# ---------------------------------------------------------------- positions


def position(pos, d_model):
    row = []
    for i in range(d_model // 2):
        angle = pos / 10000 ** (2 * i / d_model)
        row += [math.sin(angle), math.cos(angle)]
    return row


# ---------------------------------------------------------------- attention


def masked_softmax(row, may_attend):
    seen = [x for x, may in zip(row, may_attend, strict=True) if may]
    weights = iter(softmax(seen) if seen else [])
    return [next(weights) if may else 0.0 for may in may_attend]


def attention(q, k, v, mask, scale):
    scores = times(matmul(q, transposed(k)), scale)
    weights = [masked_softmax(row, may_attend) for row, may_attend in zip(scores, mask, strict=True)]
    return matmul(weights, v), weights


def multi_head_attention(p, x, memory, n_heads, mask, scale):
    q, k, v = linear(x, p["w_q"], p["b_q"]), linear(memory, p["w_k"], p["b_k"]), linear(memory, p["w_v"], p["b_v"])
    d_k, d_v = len(q[0]) // n_heads, len(v[0]) // n_heads
    scale = 1 / math.sqrt(d_k) if scale is None else scale
    side_by_side = [[] for _ in x]
    for h in range(n_heads):
        keys = slice(h * d_k, (h + 1) * d_k)
        values = slice(h * d_v, (h + 1) * d_v)
        head, _ = attention([row[keys] for row in q], [row[keys] for row in k], [row[values] for row in v], mask, scale)
        side_by_side = [row + more for row, more in zip(side_by_side, head, strict=True)]
    return linear(side_by_side, p["w_o"], p["b_o"])


# ---------------------------------------------------------------- model


def feed_forward(p, x, activation):
    bend = {"relu": relu, "gelu": gelu}[activation]
    hidden = [[bend(v) for v in row] for row in linear(x, p["w_1"], p["b_1"])]
    return linear(hidden, p["w_2"], p["b_2"])


def add_and_norm(cfg, p, x, sublayer):
    def norm(rows):
        return [layer_norm(row, p["gamma"], p["beta"], cfg.eps) for row in rows]

    inner = sublayer(norm(x) if cfg.norm == "pre" else x)
    total = add(x, inner) if cfg.residual else inner
    return norm(total) if cfg.norm == "post" else total


def layer(p, cfg, x, mask, memory=None, memory_mask=None):
    """One layer of either stack; p has `cross_attention` or not."""
    scale = None if cfg.scale else 1.0
    norms = [p[name] for name in ("norm_1", "norm_2", "norm_3") if p.get(name) is not None]

    def attend(part, other=None, may=mask):
        return lambda rows: multi_head_attention(part, rows, other or rows, cfg.n_heads, may, scale)

    x = add_and_norm(cfg, norms[0], x, attend(p["self_attention"]))
    if p.get("cross_attention") is not None:
        x = add_and_norm(cfg, norms[1], x, attend(p["cross_attention"], memory, memory_mask))
    return add_and_norm(cfg, norms[-1], x, lambda rows: feed_forward(p["feed_forward"], rows, cfg.activation))


def embed(table, cfg, ids, start=0):
    rows = [list(table[i]) for i in ids]
    if cfg.scale_embeddings:
        rows = times(rows, math.sqrt(cfg.d_model))
    if cfg.positions:
        rows = add(rows, [position(start + t, cfg.d_model) for t in range(len(ids))])
    return rows


def stack(layers, last_norm, cfg, x, mask, memory=None, memory_mask=None):
    for p in layers:
        x = layer(p, cfg, x, mask, memory, memory_mask)
    if last_norm is not None:
        x = [layer_norm(row, last_norm["gamma"], last_norm["beta"], cfg.eps) for row in x]
    return x


def encode(params, cfg, src, src_is_token):
    mask = [src_is_token for _ in src]
    return stack(params["encoder"], params["encoder_norm"], cfg, embed(params["src_embedding"], cfg, src), mask)


def decode(params, cfg, tgt, memory, tgt_is_token, src_is_token):
    mask = [[ok and (k <= q or not cfg.causal) for k, ok in enumerate(tgt_is_token)] for q in range(len(tgt))]
    memory_mask = [src_is_token for _ in tgt]
    x = embed(params["tgt_embedding"], cfg, tgt)
    return stack(params["decoder"], params["decoder_norm"], cfg, x, mask, memory, memory_mask)


def forward(params, cfg, src, tgt, src_is_token, tgt_is_token):
    """The logits of one sentence pair."""
    memory = encode(params, cfg, src, src_is_token) if params["encoder"] and cfg.cross_attention else None
    rows = decode(params, cfg, tgt, memory, tgt_is_token, src_is_token)
    return linear(rows, params["output"]["weight"], params["output"]["bias"])


# ---------------------------------------------------------------- generate


def kept_tokens(probs, top_k, top_p):
    order = sorted(range(len(probs)), key=lambda token: (-probs[token], token))
    if top_k is not None:
        order = order[:top_k]
    if top_p is not None:
        kept, together = [], 0.0
        enough = top_p * sum(probs[token] for token in order) * (1 - 1e-12)
        for token in order:
            kept.append(token)
            together += probs[token]
            if together >= enough:
                break
        order = kept
    return order


def sample(logits_after, sos, eos, max_length, temperature, top_k, top_p, random):
    """`logits_after` takes the tokens so far, the first of them `sos`; `random` gives the next random number."""
    tokens, log_prob = [], 0.0
    while len(tokens) < max_length and eos not in tokens[-1:]:
        row = logits_after([sos, *tokens])
        probs = softmax([x / temperature for x in row])
        kept = kept_tokens(probs, top_k, top_p)
        together, at, below = sum(probs[t] for t in kept), random(), 0.0
        for token in kept:
            below += probs[token] / together
            if at < below:
                break
        log_prob += log_softmax(row)[token]
        tokens.append(token)
    return tuple(tokens), log_prob


class Tie(Exception):
    """Sentences score the same but for rounding, which then decides: the same steps in another order, for example."""


def _best_first(sentences, score):
    ordered = sorted(sentences, key=lambda s: -score(s))
    return ordered, [score(a) - score(b) < 1e-9 for a, b in itertools.pairwise(ordered)]


def beam_search(logits_after, sos, eos, max_length, width, length_penalty):
    """Every sentence that a beam of this width completes, and those it still holds at the limit, by score.

    Raises `Tie` where rounding would choose or order them.
    """
    alive, done = [((), 0.0)], []
    for _ in range(max_length):
        longer = []
        for tokens, log_prob in alive:
            row = log_softmax(logits_after([sos, *tokens]))
            longer += [((*tokens, token), log_prob + more) for token, more in enumerate(row)]
        longer, ties = _best_first(longer, lambda s: s[1])
        if any(ties[:width]):
            raise Tie
        longer = longer[:width]
        done += [s for s in longer if s[0][-1] == eos]
        alive = [s for s in longer if s[0][-1] != eos]
        if not alive:
            break

    def score(sentence):
        tokens, log_prob = sentence
        return log_prob / ((5 + len(tokens)) / 6) ** length_penalty

    (done, done_ties), (alive, alive_ties) = _best_first(done, score), _best_first(alive, score)
    if any(done_ties + alive_ties):
        raise Tie
    return done, alive


# ---------------------------------------------------------------- optim


def adam(p, gradients, rates, beta1, beta2, eps):
    """Where one number is after a step for each of its gradients."""
    m = v = 0.0
    for t, (g, rate) in enumerate(zip(gradients, rates, strict=True), start=1):
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        p -= rate * (m / (1 - beta1**t)) / (math.sqrt(v / (1 - beta2**t)) + eps)
    return p


# ---------------------------------------------------------------- corpus


def padded(sentence, length, pad_id):
    kept = list(sentence)[:length]
    return kept + [pad_id] * (length - len(kept)), [True] * len(kept) + [False] * (length - len(kept))
