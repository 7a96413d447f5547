"""Checkers of chapter 22: sizes."""

from toytf.byhand import Prod, Quotient, Sum
from toytf.check.answers import part, worked
from toytf.check.core import Case, checker


@checker("ex-22-3")
def table_bytes(batch, n, m, n_heads, layers):
    """Count the bytes of all scores and weights of one forward pass, in float32.

    batch: sentence pairs. n, m: tokens of each source and of each target. The model has
    this many encoder layers, and as many decoder layers. Every attention keeps two
    tables for each sentence and head, the scores and the weights, with a row for each
    query and a column for each key. A number takes 4 bytes. Returns a whole number.
    """
    pairs = n * n + m * m + m * n
    return 4 * 2 * batch * n_heads * layers * pairs


table_bytes.cases = lambda rng: [
    Case((1, 1, 2, 1, 1), "one head, one layer, lengths 1 and 2"),
    Case((2, 3, 5, 2, 3), "small sizes, all different"),
    Case((1000, 25, 25, 8, 6), "the paper's batch, as 1000 sentences"),
    Case(tuple(rng.integers(2, 300, size=5).tolist()), "sizes drawn at random"),
]
table_bytes.knows("""
    - one table for each head: 4 * 2 * batch => 4 * batch
      Scores and weights are two tables, and the way back needs both kept: twice as much.
    - numbers in place of bytes: 4 * 2 * batch => 2 * batch
      A float32 takes 4 bytes.
    - twice as many bytes: 4 * 2 * batch => 8 * 2 * batch
      Eight bytes for a number are float64; a float32 takes 4. If your number takes 4, the layers are counted twice: n *
      n belongs to each encoder layer, m * m + m * n to each decoder layer.
    - the heads forgotten: n_heads * layers => layers
      Each head has a map of its own: multiply by n_heads. The width of a head does not matter here.
    - the batch forgotten: batch * n_heads => n_heads
      Each sentence pair has its own tables: multiply by batch.
    - the layers forgotten: n_heads * layers => n_heads
      Each layer has its own tables, and the way back needs them all.
    - the cross-attention forgotten: m * m + m * n => m * m
      A decoder layer has two attentions. The second has m queries and n keys: m * n.
    - the decoder's self-attention forgotten: n * n + m * m + m * n => n * n + m * n
      A decoder layer has two attentions. In the first the m target tokens meet each other: m * m.
    - the encoder alone: n * n + m * m + m * n => n * n
      Each decoder layer has two attentions on top: m * m for its own rows, m * n for those of the memory.
    - all tokens in one table: n * n + m * m + m * n => (n + m) ** 2
      (n + m) squared would let source and target see each other everywhere. There are three tables: n * n, m * m and m
      * n.
    - half a table for the causal mask: m * m => m * (m + 1) // 2
      The mask hides half of the scores, and they are stored all the same: m * m.
    - the tokens of the batch in one sentence: batch * n_heads => batch**2 * n_heads
      Tokens meet within their sentence only: the batch is a factor, it is not squared.
    - m * m for the cross-attention: m * m + m * n => m * m + m * m
      In the decoder's second attention m queries meet n keys: m * n.
    - n * n for the cross-attention: m * m + m * n => m * m + n * n
      In the decoder's second attention m queries meet n keys: m * n.
""")


def _count_cases(rng):
    words, d, d_ff, layers = (int(k) for k in rng.integers((20, 2, 9, 2), (2000, 90, 900, 40)))
    return [
        Case((3, 2, 3, 1), "three words of width 2, one layer a side"),
        Case((10, 4, 8, 2), "width 4, two layers a side"),
        Case((words, 2 * d, d_ff, layers), "sizes drawn at random"),
        Case((37_000, 512, 2048, 6), "the paper's base model"),
    ]


@checker("ex-22-6", cases=_count_cases)
def count_parameters(words, d, d_ff, layers):
    """Count the parameters of the paper's model, with one table for all three uses.

    words: the common vocabulary of source, target and output. d: the width of a row,
    and of all heads side by side. The model has this many encoder layers and as many
    decoder layers. Attentions have no biases, feed-forward networks have both, layer
    norms have gamma and beta, the output has no bias. Returns a whole number.
    """
    attention, feed_forward, norm = 4 * d * d, 2 * d * d_ff + d_ff + d, 2 * d
    encoder = attention + feed_forward + 2 * norm
    decoder = 2 * attention + feed_forward + 3 * norm
    return layers * (encoder + decoder) + words * d


count_parameters.knows("""
    - one attention in the decoder: 2 * attention => attention
      A decoder layer has two: its self-attention, and the cross-attention that reads the memory.
    - three matrices in an attention: 4 * d * d => 3 * d * d
      W_Q, W_K and W_V, and then W_O: four matrices of d times d.
    - the feed-forward biases forgotten: 2 * d * d_ff + d_ff + d => 2 * d * d_ff
      Each of the two maps adds a row of its own: d_ff numbers and d numbers.
    - biases in the attentions: 4 * d * d => 4 * d * d + 4 * d
      The paper's attentions have no biases. With them there are 4 d more in each.
    - the norms forgotten: d_ff + d, 2 * d => d_ff + d, 0
      Each layer norm has gamma and beta, 2 d numbers: two norms in an encoder layer, three in a decoder layer.
    - norms without beta: d_ff + d, 2 * d => d_ff + d, d
      A layer norm has gamma and beta: 2 d numbers.
    - two norms in a decoder layer, or no second bias: 3 * norm => 2 * norm
      A decoder layer has three parts, and a norm after each: 3 * 2 d. If you have three, look for d numbers in each
      feed-forward network: its second bias.
    - the embeddings twice: words * d => 2 * words * d
      Source and target share one table, and the output uses the same, turned over: words * d once.
    - three tables: words * d => 3 * words * d
      Here one table does all the work of three: words * d once (chapter 22, Why does the paper say 65 million?).
    - the tables forgotten: (encoder + decoder) + words * d => (encoder + decoder)
      The common table has d numbers for each word, and training sets them like all others.
    - a bias at the output: words * d => words * d + words
      With a shared table the output has no bias here.
    - the encoder alone: encoder + decoder => encoder
      There are as many decoder layers, and they are larger.
    - one matrix in the feed-forward network: 2 * d * d_ff => d * d_ff
      It widens and narrows: one matrix of d times d_ff, one of d_ff times d.
    - one layer alone: layers * (encoder => (encoder
      Everything but the table is there once for each layer.
""")


def _cache_cases(rng):
    n, m, d, layers = (int(k) for k in rng.integers((3, 3, 2, 2), (400, 400, 90, 40)))
    return [
        Case((1, 2, 2, 1, 4), "one layer of width 2"),
        Case((3, 5, 4, 2, 8), "two layers of width 4, float64"),
        Case((n, m + n, 2 * d, layers, 2), "sizes drawn at random, two bytes"),
        Case((30, 100, 512, 6, 4), "the paper's base model"),
    ]


@checker("ex-22-7", cases=_cache_cases)
def cache_bytes(n, m, d, layers, itemsize):
    """Count the bytes that a model keeps while it writes, after m tokens.

    n: tokens of the source. d: the width of a row, and of all heads side by side.
    layers: of the decoder. itemsize: bytes of one number. Each decoder layer keeps keys
    and values of the m tokens written so far, and keys and values of the memory; the
    memory itself, a row for each source token, is kept once. Returns a whole number.
    """
    own, of_the_memory = 2 * layers * m * d, 2 * layers * n * d
    return itemsize * (own + of_the_memory + n * d)


cache_bytes.knows("""
    - keys without values: 2 * layers * m * d, 2 * layers * n * d => layers * m * d, layers * n * d
      Each layer keeps keys and values, so everything in it counts twice.
    - queries kept as well: 2 * layers * m => 3 * layers * m
      A query is used once, in its own step. Only keys and values are needed later: twice, not three times.
    - the memory's keys and values forgotten: own + of_the_memory => own
      The cross-attention of each layer keeps keys and values of the n source tokens, made once.
    - the memory forgotten: of_the_memory + n * d => of_the_memory
      The rows that the encoder made are kept, too: n * d, once for all layers.
    - only what was written: own + of_the_memory + n * d => own
      The source has its part: keys and values of the memory in each layer, and the memory itself.
    - the layers forgotten: 2 * layers * m * d, 2 * layers * n * d => 2 * m * d, 2 * n * d
      Each decoder layer has keys and values of its own. Only the memory is kept once.
    - the memory kept by every layer: of_the_memory + n * d => of_the_memory + layers * n * d
      All layers read the same memory: n * d once. What differs between layers are its keys and values.
    - numbers in place of bytes: itemsize * (own => (own
      Each number takes itemsize bytes.
    - bits in place of bytes: itemsize * (own => 8 * itemsize * (own
      itemsize is in bytes already.
    - a cache that grows with the square: 2 * layers * m * d => layers * m * (m + 1) * d
      Each step adds one row to the cache; the rows before stay where they are. So it is m rows, not 1 + 2 + ... + m.
    - source and target exchanged: (n, m, => (m, n,
      The memory has a row for each of the n source tokens; m tokens were written.
    - the memory twice: of_the_memory + n * d => of_the_memory + 2 * n * d
      Keys and values are two arrays, the memory is one: n * d.
    - one array for the memory's keys and values: 2 * layers * n => layers * n
      The cross-attention of each layer keeps both, keys and values: 2 n d.
    - one array for the keys and values of what was written: 2 * layers * m => layers * m
      The self-attention of each layer keeps both, keys and values: 2 m d.
""")


def _product_cases(rng):
    n, m, words, d, d_ff, layers = (int(k) for k in rng.integers((3, 3, 20, 2, 9, 2), (90, 90, 900, 90, 400, 40)))
    return [
        Case((1, 2, 3, 2, 5, 1), "one word to two words, width 2"),
        Case((3, 2, 7, 4, 8, 1), "three words to two, width 4"),
        Case((n, m + n, words, 2 * d, d_ff, layers), "sizes drawn at random"),
        Case((30, 30, 37_000, 512, 2048, 6), "the paper's base model"),
    ]


@checker("ex-22-9", cases=_product_cases)
def count_multiplications(n, m, words, d, d_ff, layers):
    """Count the multiplications of all matrix products in one forward pass.

    One sentence. n, m: tokens of its source and of its target. words: the target
    vocabulary. d: the width of a row, and of all heads side by side. The model has this
    many encoder layers and as many decoder layers, and every target row gets logits. A
    product of a (p, q) and a (q, r) matrix takes p q r multiplications. Returns a whole
    number.
    """
    encoder = 4 * n * d * d + 2 * n * n * d + 2 * n * d * d_ff
    own = 4 * m * d * d + 2 * m * m * d
    cross = 2 * m * d * d + 2 * n * d * d + 2 * m * n * d
    return layers * (encoder + own + cross + 2 * m * d * d_ff) + m * d * words


count_multiplications.knows("""
    - the output forgotten: d_ff) + m * d * words => d_ff)
      Each target row meets the output matrix: m * d * words, once for the whole model.
    - the output in every layer: m * d * words => layers * m * d * words
      Logits are made once, after the last layer.
    - rows that meet rows forgotten:
        2 * n * n * d + 2 * n => 2 * n, and 4 * m * d * d + 2 * m * m * d => 4 * m * d * d, and
        2 * n * d * d + 2 * m * n * d => 2 * n * d * d
      Scores and weighted sums have no weights in them, and are products all the same: 2 n n d, 2 m m d and 2 m n d in
      each layer.
    - scores without the weighted sums: 2 * n * n * => n * n *, and 2 * m * m * => m * m *, and 2 * m * n * => m * n *
      Q K^T is one product, the weights with V another one of the same size: 2 n n d.
    - the cross-attention forgotten: own + cross => own
      A decoder layer has two attentions. The second takes its queries from m rows, its keys and values from n.
    - keys and values from the decoder: 2 * n * d * d + => 2 * m * d * d +
      In cross-attention they are made from the n rows of the memory: 2 n d d. Queries and output take 2 m d d.
    - three projections: 4 * n * d * => 3 * n * d *, and 4 * m * d * => 3 * m * d *, and 2 * m * d * d + => m * d * d +
      W_Q, W_K and W_V, and then W_O: four products with d * d matrices.
    - half of the scores for the causal mask: 2 * m * m * d => 2 * (m * (m + 1) // 2) * d
      All scores are computed, then half of them are hidden: the mask saves nothing here.
    - one product in the feed-forward network: 2 * n * d * d_ff => n * d * d_ff, and 2 * m * d * d_ff => m * d * d_ff
      It widens and narrows: 2 n d d_ff, and 2 m d d_ff in the decoder.
    - the feed-forward network forgotten: * n * d + 2 * n * d * d_ff => * n * d, and cross + 2 * m * d * d_ff => cross
      Both stacks have one in each layer: 2 n d d_ff and 2 m d d_ff.
    - the output for one row only: m * d * words => d * words
      While it writes, a model needs the logits of the last row alone. Here all m rows get them, as in training.
    - one row in place of all: encoder = => n = m = 1; encoder =
      That is what each matrix entry costs for a single row. Every row meets every matrix: n rows in the encoder, m in
      the decoder.
    - additions counted as well: layers * (encoder => 2 * layers * (encoder, and m * d * words => 2 * m * d * words
      With the additions it is twice as much. Only multiplications are asked.
    - all four from the memory: 2 * m * d * d + => 2 * n * d * d +
      In cross-attention queries and output are made from the decoder's m rows: 2 m d d. Keys and values take 2 n d d.
    - m rows that meet m rows in the cross-attention: 2 * m * n * d => 2 * m * m * d
      There the m rows of the decoder meet the n rows of the memory: 2 m n d.
    - logits for the source: m * d * words => n * d * words
      The decoder says the words, so its m rows get logits: m * d * words.
""")


# 22.1: one layer; 22.4: one table; 22.5: twice as large
_SMALL = (
    worked("attention", Prod(4, 8, 8))
    .knows(3 * 64, "three matrices. W^O is the fourth.")
    .knows(4 * 8 * 4, "one head. The two heads of width 4 have 8 columns together.")
    .knows(4 * 64 + 32, "the biases counted. This attention has none."),
    worked("feed-forward", Sum(Prod(2, 8, 32), 32, 8))
    .knows(2 * 8 * 32, "the two matrices alone. The biases are counted too.")
    .knows(8 * 32 + 32, "the first matrix and its bias. There is a second of each."),
    worked("norms", Prod(2, Sum(8, 8))).knows(
        16, "one layer norm, or two without beta. Two norms have gamma and beta each."
    ),
)
_ATTENTION, _FED, _NORMS = (int(one.expected) for one in _SMALL)
_TOGETHER = _ATTENTION + _FED + _NORMS

BY_HAND = {}
BY_HAND["22.1"] = [
    *_SMALL,
    worked("together", Sum(_ATTENTION, _FED, _NORMS))
    .step("attention, feed-forward and norms, added")
    .knows(_ATTENTION + _FED, "the norms left out.")
    .knows(_TOGETHER + 32, "the attention biases counted. This layer has none."),
    worked("percent", Quotient(Prod(100, _FED), _TOGETHER), about=True, shown=".1f")
    .knows(_FED / _TOGETHER, "a part of 1. In percent it is 100 times as much.")
    .knows(
        round(100 * _FED / (_ATTENTION + _FED)),
        "a share of attention and feed-forward. The norms belong to the layer too.",
    ),
    worked("biases", Sum(Prod(3, 8), 8), lead="three of width 2 * 4 and one of width 8: ")
    .knows(24, "three biases. W^O has one too.")
    .knows(16, "one head's biases. There are two heads."),
]
BY_HAND["22.4"] = [
    worked("", Sum(Prod(2, 37000, 512), 37000))
    .knows(2 * 37000 * 512, "the output bias kept. It goes too.")
    .knows(37000 * 512 + 37000, "one table. Three become one, so two go.")
    .knows(3 * 37000 * 512 + 37000, "all three tables. One of them stays.")
]
BY_HAND["22.5"] = [
    worked("factor, width", Prod(2, 2), lead="every matrix is twice as high and twice as wide: ").knows(
        2, "one side of each matrix. Both sides double."
    ),
    part("factor, depth", 2, "twice as many layers: 2")
    .step("a layer stays as large as it was; how many more are there?")
    .knows(4, "the factor of the width. A layer stays as large as it was."),
    worked("crossover, width", Sum(Prod(2, 1024), 4096), lead="2 d + d_ff with both doubled: ").knows(
        2 * 512 + 2048, "the crossover of the base model. It doubles with d and d_ff."
    ),
    worked(
        "crossover, depth", Sum(Prod(2, 512), 2048), lead="2 d + d_ff does not contain the number of layers: "
    ).knows(2 * 1024 + 4096, "twice the crossover. The number of layers does not occur in it."),
]
