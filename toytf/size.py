"""How large is a model? Parameters, multiplications and bytes, from its `Config` alone.

Nothing is drawn and nothing is multiplied here: every function is a formula in the sizes. ``d`` is
``d_model``, ``w`` is ``n_heads * head_width``, the width of all heads side by side (``d`` in the paper),
``f`` is ``d_ff``; ``n`` and ``m`` are the lengths of the source and of the target.

Each function returns a dict from part to number, all layers of a stack together, with the same parts for every
`Config`; a part that the `Config` leaves out is 0. A length that the model has no stack for is not used; one that
is needed and missing is a `ValueError`.
"""

from __future__ import annotations

from toytf._door import Count, door
from toytf.parameters import Config

# ---------------------------------------------------------------- parameters


@door
def parameters(cfg: Config) -> dict[str, int]:
    """How many numbers training sets, part by part::

        attention     4 d w            (+ 3 w + d with biases)
        feed-forward  2 d f + f + d
        norm          2 d
        embedding     vocabulary * d
        output        d * vocabulary + vocabulary

    >>> sum(parameters(Config(37000, 37000)).values())
    100970632
    """
    d, w, f = _widths(cfg)
    encoders, decoders, readers = _layers(cfg)
    attention = 4 * d * w + (3 * w + d if cfg.bias else 0)
    feed_forward = 2 * d * f + f + d
    norm = 2 * d
    last_norm = norm if cfg.norm == "pre" else 0
    encodes, decodes = encoders > 0, decoders > 0
    return {
        "source embedding": encodes * cfg.src_vocab * d,
        "encoder attention": encoders * attention,
        "encoder feed-forward": encoders * feed_forward,
        "encoder norms": encoders * 2 * norm + encodes * last_norm,
        "target embedding": decodes * cfg.tgt_vocab * d,
        "decoder self-attention": decoders * attention,
        "decoder cross-attention": readers * attention,
        "decoder feed-forward": decoders * feed_forward,
        "decoder norms": (2 * decoders + readers) * norm + decodes * last_norm,
        "output": decodes * (d + 1) * cfg.tgt_vocab,
    }


# ---------------------------------------------------------------- multiplications


@door
def multiplications(cfg: Config, source: Count | None = None, target: Count | None = None) -> dict[str, int]:
    """How many multiplications the matrix products of one forward pass take, for one sentence::

        projections        4 n d w        x with W_Q, W_K, W_V, and the heads with W_O
        scores and sums    2 n n w        Q K^T, and the weights with V
        feed-forward       2 n d f
        cross-attention    2 m d w + 2 n d w,   and   2 m n w
        output             m d vocabulary

    Each comes with an addition. What works entry by entry (softmax, norms, the scale) is not
    counted, and the causal mask saves nothing: all scores are computed, then half are hidden.

    >>> cfg = Config(src_vocab=5, tgt_vocab=7, d_model=4, n_heads=2, d_ff=8, n_encoder_layers=1, n_decoder_layers=1)
    >>> for part, n in multiplications(cfg, source=3, target=2).items():
    ...     print(f"{part:33}{n:4}")
    encoder projections               192
    encoder scores and sums            72
    encoder feed-forward              192
    decoder projections               128
    decoder scores and sums            32
    cross-attention projections       160
    cross-attention scores and sums    48
    decoder feed-forward              128
    output                             56
    """
    n, m = _lengths(cfg, source, target)
    return {
        **_encoding(cfg, n),
        **_decoding(cfg, rows=m, meetings=m * m, memory_rows=n, memory_meetings=m * n, words=m),
    }


@door
def writing(cfg: Config, source: Count | None, target: Count, cached: bool = True) -> dict[str, int]:
    """How many multiplications writing `target` tokens takes, for one sentence, step after step.

    With a cache step ``t`` sends one row through the decoder, and that row meets ``t`` keys; the
    memory's keys and values are computed once. Without one it sends all ``t`` rows through again.
    The encoder runs once either way.

    >>> cfg = Config(src_vocab=5, tgt_vocab=7, d_model=4, n_heads=2, d_ff=8, n_encoder_layers=1, n_decoder_layers=1)
    >>> for cached in (True, False):
    ...     print(sum(writing(cfg, source=3, target=10, cached=cached).values()))
    3112
    14896
    """
    if cfg.n_decoder_layers == 0:
        raise ValueError("cfg: expected a model with a decoder, got one without decoder layers")
    if cached and not cfg.causal:
        raise ValueError("cached: expected False for a decoder without causal mask, got True")
    n, m = _lengths(cfg, source, target)
    one_to_m, squares = m * (m + 1) // 2, m * (m + 1) * (2 * m + 1) // 6
    if cached:  # in step t one row meets t keys; the memory's keys and values are made in the first step
        decoding = _decoding(cfg, rows=m, meetings=one_to_m, memory_rows=n, memory_meetings=m * n, words=m)
    else:  # in step t all t rows meet t keys each, and the memory's are made again
        decoding = _decoding(
            cfg, rows=one_to_m, meetings=squares, memory_rows=m * n, memory_meetings=one_to_m * n, words=m
        )
    return {**_encoding(cfg, n), **decoding}


@door
def crossover(cfg: Config) -> float:
    """At which length an encoder layer's scores and sums take as much as all its weight matrices::

        2 n n w = 4 n d w + 2 n d f,   so   n = 2 d + d f / w

    >>> crossover(Config(37000, 37000))
    3072.0
    """
    d, w, f = _widths(cfg)
    return 2 * d + d * f / w


def _encoding(cfg: Config, n: int) -> dict[str, int]:
    """One pass through the encoder."""
    d, w, f = _widths(cfg)
    layers, _, _ = _layers(cfg)
    return {
        "encoder projections": layers * 4 * n * d * w,
        "encoder scores and sums": layers * 2 * n * n * w,
        "encoder feed-forward": layers * 2 * n * d * f,
    }


def _decoding(
    cfg: Config, *, rows: int, meetings: int, memory_rows: int, memory_meetings: int, words: int
) -> dict[str, int]:
    """So many rows through the decoder, and to logits those of so many words.

    A meeting is one of a query and a key: of two of the decoder's rows, or of one with one of the memory's.
    """
    d, w, f = _widths(cfg)
    _, layers, readers = _layers(cfg)
    return {
        "decoder projections": layers * 4 * rows * d * w,
        "decoder scores and sums": layers * 2 * meetings * w,
        "cross-attention projections": readers * 2 * (rows + memory_rows) * d * w,
        "cross-attention scores and sums": readers * 2 * memory_meetings * w,
        "decoder feed-forward": layers * 2 * rows * d * f,
        "output": (layers > 0) * words * d * cfg.tgt_vocab,
    }


# ---------------------------------------------------------------- memory


@door
def activations(
    cfg: Config, batch: Count = 1, source: Count | None = None, target: Count | None = None
) -> dict[str, int]:
    """How many numbers one `toytf.model.forward` keeps for its backward, beside the parameters.

    Token ids and masks are not counted: they are no activations.

    >>> cfg = Config(src_vocab=5, tgt_vocab=7, d_model=4, n_heads=2, d_ff=8, n_encoder_layers=1, n_decoder_layers=1)
    >>> activations(cfg, source=3, target=2)  # doctest: +NORMALIZE_WHITESPACE
    {'embeddings': 40, 'queries, keys, values, heads': 120, 'attention weights': 76,
     'feed-forward': 80, 'residuals and norms': 204, 'logits': 14}
    """
    n, m = _lengths(cfg, source, target)
    d, w, f = _widths(cfg)
    encoders, decoders, readers = _layers(cfg)
    own = encoders * n + decoders * m  # rows that go through a self-attention, and through a feed-forward network
    across = readers * m  # and through a cross-attention
    # A sub-layer's output; the sum with its input; what a norm keeps: normalised rows, roots, its output.
    kept = d + (d if cfg.residual else 0) + (2 * d + 1 if cfg.norm != "none" else 0)
    ends = (n if encoders else 0) + (m if decoders else 0)
    counts = {
        "embeddings": ends * (2 * d if cfg.positions else d),
        "queries, keys, values, heads": 4 * own * w + 2 * (across + readers * n) * w,
        "attention weights": 2 * cfg.n_heads * (encoders * n * n + decoders * m * m + across * n),
        "feed-forward": own * 2 * f,
        "residuals and norms": (2 * own + across) * kept + (ends * (2 * d + 1) if cfg.norm == "pre" else 0),
        "logits": m * cfg.tgt_vocab if decoders else 0,
    }
    return {part: batch * numbers for part, numbers in counts.items()}


@door
def cache(cfg: Config, batch: Count = 1, source: Count | None = None, target: Count | None = None) -> dict[str, int]:
    """How many numbers a `toytf.generate.DecodeState` keeps after `target` tokens::

        own keys and values         2 * layers * m * w
        memory's keys and values    2 * layers * n * w
        memory                      n * d

    >>> cache(Config(37000, 37000), source=30, target=100)
    {'own keys and values': 614400, "memory's keys and values": 184320, 'memory': 15360}
    """
    n, m = _lengths(cfg, source, target)
    d, w, _ = _widths(cfg)
    _, decoders, readers = _layers(cfg)
    return {
        "own keys and values": batch * decoders * 2 * m * w,
        "memory's keys and values": batch * readers * 2 * n * w,
        "memory": batch * n * d if readers else 0,
    }


@door
def memory(
    cfg: Config, batch: Count = 1, source: Count | None = None, target: Count | None = None, itemsize: Count = 4
) -> dict[str, int]:
    """How many bytes a model needs: to learn, all but the cache; to write, weights and cache.

    Gradients are as many as weights, and Adam keeps two running means. ``activations`` are those of one forward pass,
    ``cache`` that of `target` tokens. What a function needs for a moment comes on top.

    >>> need = memory(Config(37000, 37000), batch=32, source=30, target=30)
    >>> {what: f"{n / 1e6:,.0f} MB" for what, n in need.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'weights': '404 MB', 'gradients': '404 MB', 'adam': '808 MB', 'activations': '749 MB', 'cache': '49 MB'}
    """
    weights = sum(parameters(cfg).values())
    numbers = {
        "weights": weights,
        "gradients": weights,
        "adam": 2 * weights,
        "activations": sum(activations(cfg, batch, source, target).values()),
        "cache": sum(cache(cfg, batch, source, target).values()),
    }
    return {what: itemsize * n for what, n in numbers.items()}


# ---------------------------------------------------------------- sizes


def _widths(cfg: Config) -> tuple[int, int, int]:
    """A row, all heads side by side, the inside of the feed-forward network."""
    return cfg.d_model, cfg.n_heads * cfg.head_width, cfg.d_ff


def _layers(cfg: Config) -> tuple[int, int, int]:
    """Encoder layers, decoder layers, and those of them that read the memory."""
    return cfg.n_encoder_layers, cfg.n_decoder_layers, cfg.n_decoder_layers if cfg.reads_memory else 0


def _lengths(cfg: Config, source: int | None, target: int | None) -> tuple[int, int]:
    """The two lengths; 0 for a sequence that the model does not have."""
    if source is None and cfg.n_encoder_layers:
        raise ValueError("source: expected a number of tokens for a model with an encoder, got None")
    if target is None and cfg.n_decoder_layers:
        raise ValueError("target: expected a number of tokens for a model with a decoder, got None")
    return source if cfg.n_encoder_layers else 0, target if cfg.n_decoder_layers else 0
