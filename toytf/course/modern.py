"""A decoder as in Llama and Mixtral, in NumPy: what has changed since 2017, in about forty lines.

Ids go in and logits come out. The parts are those of chapter 22, in its order: RMSNorm before each sub-layer,
rotary positions, keys and values shared by groups of heads, a sliding window, SwiGLU, and a mixture of
experts in its place where a layer has a router. There are no biases, and nothing is dropped.

    >>> import numpy as np
    >>> from toytf.course import modern
    >>> cfg = modern.Config(words=50)
    >>> params = modern.init(cfg, np.random.default_rng(22))
    >>> modern.forward(params, cfg, [3, 1, 4]).shape
    (3, 50)

Hugging Face's classes `LlamaForCausalLM` and `MixtralForCausalLM` give the same numbers from the same weights
(``toytf/course/listings/modern_decoder.py``), where both compute in double precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from toytf.attention import attention
from toytf.ops import Array, softmax


@dataclass(frozen=True)
class Config:
    """The sizes of a model; those that stand here are small."""

    words: int
    d: int = 16
    n_heads: int = 4
    n_key_heads: int = 2
    d_head: int = 4
    d_ff: int = 24
    n_layers: int = 2
    base: float = 10_000.0
    window: int | None = None
    n_experts: int = 0  # 0: one feed-forward network a layer, and no router
    chosen: int = 2
    eps: float = 1e-5


def rms_norm(x: Array, gamma: Array, eps: float = 1e-5) -> Array:
    """Divide each row by the root of its mean square, and scale its columns."""
    return gamma * x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)


def rotate(x: Array, base: float) -> Array:
    """Turn column i of row t with column i + half of it, by the angle t / base**(i / half)."""
    n, d = x.shape[-2:]
    angle = np.arange(n)[:, None] / base ** (np.arange(0, d, 2) / d)
    cos, sin = np.cos(angle), np.sin(angle)
    a, b = x[..., : d // 2], x[..., d // 2 :]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def window_mask(n: int, width: int | None) -> Array:
    """True where row i may attend to row j: not after it, and fewer than `width` places before."""
    back = np.arange(n)[:, None] - np.arange(n)
    return (back >= 0) & (back < (width or n))


def grouped_attention(p: dict, cfg: Config, x: Array) -> Array:
    """Causal self-attention in which n_heads / n_key_heads query heads share a key head and a value head."""
    n, group = len(x), cfg.n_heads // cfg.n_key_heads
    q = (x @ p["w_q"]).reshape(n, cfg.n_key_heads, group, cfg.d_head)
    k = (x @ p["w_k"]).reshape(n, cfg.n_key_heads, 1, cfg.d_head)
    v = (x @ p["w_v"]).reshape(n, cfg.n_key_heads, 1, cfg.d_head)
    q, k, v = (np.moveaxis(a, 0, 2) for a in (q, k, v))  # key head, head of it, token, width
    q, k = rotate(q, cfg.base), rotate(k, cfg.base)
    heads, _ = attention(q, k, v, window_mask(n, cfg.window))
    return np.moveaxis(heads, 2, 0).reshape(n, -1) @ p["w_o"]


def swiglu(p: dict, x: Array) -> Array:
    """A feed-forward network with a gate: swish(x W_1) says how much of x W_3 passes."""
    gate = x @ p["w_1"]
    return (gate / (1 + np.exp(-gate)) * (x @ p["w_3"])) @ p["w_2"]


def mixture(p: dict, cfg: Config, x: Array) -> Array:
    """For each row the few networks that its router likes best, weighted by softmax over these few."""
    scores = x @ p["router"]  # token, expert
    best = np.argsort(-scores, axis=-1, kind="stable")[:, : cfg.chosen]
    shares = softmax(np.take_along_axis(scores, best, axis=-1))
    out = np.zeros_like(x)
    for e, expert in enumerate(p["experts"]):
        row, place = np.nonzero(best == e)
        out[row] += shares[row, place, None] * swiglu(expert, x[row])
    return out


def layer(p: dict, cfg: Config, x: Array) -> Array:
    """Attention and a feed-forward network, or several, each with its norm before it."""
    x = x + grouped_attention(p, cfg, rms_norm(x, p["gamma_1"], cfg.eps))
    y = rms_norm(x, p["gamma_2"], cfg.eps)
    return x + (mixture(p, cfg, y) if "router" in p else swiglu(p, y))


def forward(params: dict, cfg: Config, ids) -> Array:
    """Logits for the word after each, of shape (tokens, words)."""
    x = params["embedding"][ids]
    for p in params["layers"]:
        x = layer(p, cfg, x)
    return rms_norm(x, params["gamma"], cfg.eps) @ params["output"]


def init(cfg: Config, rng: np.random.Generator) -> dict:
    """Draw a model: normal matrices, and norms around 1 so that each must be where it belongs."""

    def matrix(rows, columns):
        return rng.normal(size=(rows, columns)) / np.sqrt(rows)

    def gamma():
        return 1 + 0.1 * rng.normal(size=cfg.d)

    def feed_forward():
        return {"w_1": matrix(cfg.d, cfg.d_ff), "w_3": matrix(cfg.d, cfg.d_ff), "w_2": matrix(cfg.d_ff, cfg.d)}

    def one_layer():
        q, kv = cfg.n_heads * cfg.d_head, cfg.n_key_heads * cfg.d_head
        p = {"w_q": matrix(cfg.d, q), "w_k": matrix(cfg.d, kv), "w_v": matrix(cfg.d, kv), "w_o": matrix(q, cfg.d)}
        p |= {"gamma_1": gamma(), "gamma_2": gamma()}
        if cfg.n_experts == 0:
            return p | feed_forward()
        return p | {"router": matrix(cfg.d, cfg.n_experts), "experts": [feed_forward() for _ in range(cfg.n_experts)]}

    layers = [one_layer() for _ in range(cfg.n_layers)]
    ends = {"embedding": rng.normal(size=(cfg.words, cfg.d)), "gamma": gamma(), "output": matrix(cfg.d, cfg.words)}
    return {"layers": layers} | ends


# The models of chapter 22; those of the library are made from the same sizes and the same arrays.
EXAMPLES = {
    "Llama": Config(words=50, base=500_000.0),
    "Mixtral": Config(words=50, base=1_000_000.0, n_experts=4),
    "Mixtral with a window": Config(words=50, base=1_000_000.0, n_experts=4, window=3),
}


def example(name: str) -> tuple[dict, list[int]]:
    """The weights of one of `EXAMPLES`, and twelve ids to read."""
    rng = np.random.default_rng(22)
    ids = rng.integers(0, EXAMPLES[name].words, size=12).tolist()
    return init(EXAMPLES[name], rng), ids
