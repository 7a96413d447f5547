"""Source 1, *The Illustrated Transformer*: settings, shapes and statements."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from replays.ledger import Claim
from replays.recompute.common import (
    D_HEAD,
    D_MODEL,
    N_HEADS,
    N_LAYERS,
    YEAR,
    eight_heads,
    size,
    small_decoder_layer,
)
from replays.recompute.register import given, recomputes
from replays.recompute.source0_attention import k1, q1, v1
from toytf.attention import attention, merge_heads, multi_head_attention, split_heads
from toytf.corpus import Vocabulary
from toytf.course import pytorch
from toytf.example import EMBEDDING, PAPER
from toytf.generate import beam_search
from toytf.model import Config, decoder_layer, forward, init
from toytf.ops import Linear, cross_entropy, embedding, linear, softmax
from toytf.positions import sinusoids, sinusoids_halves

# -- overview, input

given("s1-year", value=YEAR)
given("s1-wmt", value="WMT 2014 English-German, WMT 2014 English-French")
given("s1-n-layers", value=(N_LAYERS, N_LAYERS))
given("s1-encoder-sublayers", value=2)  # self-attention and feed-forward
given("s1-common-emb", value=(256, D_MODEL))  # both stand in the paper's table 3


@recomputes("s1-toy-emb")
def vectors_in_the_pictures():
    words = Vocabulary(["je", "suis", "étudiant"])
    rows = embedding(np.zeros((len(words), EMBEDDING.shape[1])), words.ids(list(words)))
    return rows.shape[::-1]


# -- self-attention


@recomputes("s1-layer-five")
def last_layer():
    return max(range(1, N_LAYERS + 1))  # counted from 1; counted from 0 the last is number 5


given("s1-dkey", value=(D_HEAD, D_MODEL))


def attention_steps():
    """What the steps of attention give, one after the other; the last is what `attention` returns."""
    q, k, v = q1(), k1(), v1()
    scores = q @ k.T  # every query with every key
    scaled = scores / np.sqrt(k.shape[-1])
    weights = softmax(scaled)
    weighted = weights[:, :, None] * v  # query x key x d_head: every value, times its weight
    out = weighted.sum(axis=1)
    if not np.allclose(out, attention(q, k, v)[0], rtol=1e-12):
        raise ArithmeticError("the steps do not lead to what attention gives")
    return (q, k, v), scores, scaled, weights, weighted, out


@recomputes("s1-steps")
def six_steps():
    return len(attention_steps())


@recomputes("s1-scale")
def scale_64():
    q = np.ones((1, D_HEAD))
    divisor = 1 / attention(q, q, q)[1].scale
    return Claim(divisor == 8.0, f"√{D_HEAD} = {divisor:.0f}")


@recomputes("s1-row-lengths")
def row_lengths():
    x, w = np.zeros((1, D_MODEL)), np.zeros((D_MODEL, D_HEAD))
    return x.shape[1], linear(Linear(w), x).shape[1]


# -- many heads

given("s1-heads", value=N_HEADS)


@recomputes("s1-concat-shape")
def concat_shape():
    p, x = eight_heads()
    out, trace = multi_head_attention(p, x, n_heads=N_HEADS)
    return Claim(out.shape == x.shape, f"{size(trace.heads)} times {size(p.w_o)} is {size(out)}")


@recomputes("s1-head-dim")
def head_of_512():
    return split_heads(np.zeros((1, D_MODEL)), N_HEADS).shape[-1]


# -- PyTorch's module. What only torch can tell comes from its stored answers.


def answers() -> dict[str, str]:
    """What `nn.MultiheadAttention` takes, and its words where it refuses."""
    return pytorch.stored("mha_refusals")


def example_of_300() -> dict:
    """What it gives for 12 queries and 10 keys, 64 sentences, width 300."""
    return pytorch.stored("mha_by_arguments")


@recomputes("s1-mha-defaults")
def constructor_defaults():
    arguments = example_of_300()["constructor"].partition(")")[0].strip("(").split(", ")
    first, last = arguments.index("dropout=0.0"), arguments.index("vdim=None")
    return ", ".join(arguments[first : last + 1])


@recomputes("s1-divisibility-text")
def what_divides_what():
    def taken(heads):
        try:
            split_heads(np.zeros((1, 300)), heads)
        except ValueError:
            return False
        return True

    ours = [taken(heads) for heads in (600, 8, 6)]
    theirs = [answers()[f"{heads} heads"] == "accepted" for heads in (600, 8, 6)]
    if ours != theirs:
        raise ArithmeticError("toytf and torch do not agree on which numbers of heads fit")
    found = "the width divisible by the number of heads: 300 takes 6, neither 8 nor 600"
    return Claim(ours[0], found, instead=ours == [False, False, True])


@recomputes("s1-shape-q")
def shape_of_query():
    return Claim(example_of_300()["shape of query"] == (12, 64, 300), "12 × 64 × 300; with batch_first=True (N, L, E)")


@recomputes("s1-shape-kv")
def shape_of_key_and_value():
    unequal = answers()["9 keys, 10 values"] != "accepted"
    holds = example_of_300()["shape of key and value"] == (10, 64, 300) and unequal
    return Claim(holds, "10 × 64 × 300, keys and values of one length")


@recomputes("s1-shape-kpm")
def shape_of_padding_mask():
    taken = answers()["key_padding_mask (N, S)"] == "accepted" != answers()["key_padding_mask (S, N)"]
    return Claim(taken, "64 × 10 is accepted, 10 × 64 is refused")


@recomputes("s1-shape-attnmask")
def shape_of_attention_mask():
    taken = all(answers()[f"attn_mask {shape}"] == "accepted" for shape in ("(L, S)", "(N·heads, L, S)"))
    refused = answers()["attn_mask (N, L, S)"] != "accepted"
    return Claim(taken and refused, "both are accepted, 64 × 12 × 10 is refused")


@recomputes("s1-bytetensor-mask")
def masks_of_bytes():
    said = [answers()[f"{name} of bytes"] for name in ("key_padding_mask", "attn_mask")]
    refused = all("only bool and floating types" in text for text in said)
    return Claim("accepted" in said, f"refused: {said[0]}", instead=refused)


@recomputes("s1-shape-out")
def shapes_of_outputs():
    found = example_of_300()
    shapes = found["shape of out"], found["shape of weights"]
    queries, sentences, width = shapes[0]
    weights = manual_shape("attention")  # sentence, head, query, key; torch takes the mean over heads
    if manual_shape("output") != (sentences, queries, width) or (weights[0], *weights[2:]) != shapes[1]:
        raise ArithmeticError("toytf's shapes are not torch's")
    return shapes


@recomputes("s1-embed-dim-299")
def width_of_299():
    said = answers()["width 299"]
    found = f"no output, {said}"
    return Claim(said == "accepted", found, instead="expecting embedding dimension of 299, but got 300" in said)


@recomputes("s1-mha-example-shape")
def width_of_300():
    return example_of_300()["shape of out, one head"]


# -- the class written by hand


@recomputes("s1-300-6")
def head_of_300():
    return split_heads(np.zeros((1, 300)), 6).shape[-1]


@functools.cache
def manual_shapes() -> dict[str, tuple[int, ...]]:
    """The shapes on the way through one call: 64 sentences, 12 queries, 10 keys, 6 heads, width 300."""
    batch, n_query, n_key, width, heads = 64, 12, 10, 300, 6
    w = Linear(np.zeros((width, width)))
    shapes, parts = {}, {}
    for name, length in (("q", n_query), ("k", n_key), ("v", n_key)):
        rows = linear(w, np.zeros((batch, length, width)))
        parts[name] = split_heads(rows, heads)
        shapes[f"{name}-lin"] = rows.shape
        shapes[f"{name}-view"] = rows.reshape(*rows.shape[:-1], heads, -1).shape
        shapes[f"{name}-heads"] = parts[name].shape
    context, trace = attention(parts["q"], parts["k"], parts["v"])
    merged = merge_heads(context)
    shapes["k-transposed"] = np.swapaxes(parts["k"], -1, -2).shape
    shapes["attention"] = trace.attn_weights.shape
    shapes["context"] = context.shape
    shapes["context-permuted"] = np.swapaxes(context, -2, -3).shape
    shapes["concat"] = merged.shape
    shapes["output"] = linear(w, merged).shape
    return shapes


def manual_shape(name):
    return manual_shapes()[name]


for _name in (
    *("k-lin", "v-lin", "q-lin", "k-view", "v-view", "q-view", "k-heads", "v-heads", "q-heads"),
    *("k-transposed", "attention", "context", "context-permuted", "concat", "output"),
):
    recomputes(f"s1-shape-{_name}")(functools.partial(manual_shape, _name))


@recomputes("s1-final-shape")
def merged_shape():
    return merge_heads(np.zeros(manual_shape("context"))).shape


@recomputes("s1-comment-words")
def words_in_the_comments():
    words = {name: manual_shape(f"{name.lower()}-lin")[1] for name in "KVQ"}
    found = ", ".join(f"{name} {n}" for name, n in words.items())
    return Claim(found == "K 12, V 10, Q 10", found, instead=words == {"K": 10, "V": 10, "Q": 12})


@recomputes("s1-comment-5-60")
def heads_and_width():
    return manual_shape("q-view")[-2:]


@recomputes("s1-context-10-words")
def words_in_the_permuted_shape():
    _, words, _, _ = manual_shape("context-permuted")  # sentence, word, head, width of a head
    return words


given("s1-dropout-rate", value=0.1)


# -- positions


@recomputes("s1-pe-toy-dim")
def pe_width_toy():
    return PAPER.positions.shape[1]


def heat_map():
    return sinusoids_halves(20, D_MODEL)


@recomputes("s1-pe-figure-shape")
def heat_map_shape():
    return heat_map().shape


@recomputes("s1-pe-range")
def heat_map_range():
    return heat_map().min(), heat_map().max()


@recomputes("s1-pe-halves")
def heat_map_halves():
    left, right_half = np.split(heat_map(), 2, axis=1)
    waves = np.arange(20)[:, None] / 10000 ** (np.arange(256) / 255)
    holds = np.allclose(left, np.sin(waves), atol=1e-12) and np.allclose(right_half, np.cos(waves), atol=1e-12)
    return Claim(holds, "left sine, right cosine; row 0 is all 0 left, all 1 right")


@recomputes("s1-pe-t2t-vs-paper")
def heat_map_and_paper():
    paper = sinusoids(20, D_MODEL)
    waves = np.arange(20)[:, None] / 10000 ** (np.arange(256) / 256)
    holds = np.allclose(paper[:, 0::2], np.sin(waves), atol=1e-12)
    holds = holds and np.allclose(paper[:, 1::2], np.cos(waves), atol=1e-12)
    reordered = np.concatenate([paper[:, 0::2], paper[:, 1::2]], axis=1)
    gap = np.abs(reordered - heat_map()).max()
    return Claim(holds, f"interwoven; the frequencies differ a little too, entries by up to {gap:.4f}")


# -- masks, decoder

given("s1-mask-fill", value=-1e10)
given("s1-two-layer-figure", value=(2, 2))


@recomputes("s1-kv-source")
def source_of_keys():
    cfg, p = small_decoder_layer()
    rng = np.random.default_rng(1)
    x, memory = rng.standard_normal((12, cfg.d_model)), rng.standard_normal((10, cfg.d_model))
    read, other = (decoder_layer(p, cfg, x, m)[1].cross_attention.inner.attention for m in (memory, memory + 1))
    asks = np.array_equal(read.q, other.q)  # another encoder output, the same queries ...
    answers = not np.isclose(read.k, other.k).any() and not np.isclose(read.v, other.v).any()  # ... other keys, values
    answers = answers and np.allclose(merge_heads(read.k), memory @ p.cross_attention.w_k)
    found = f"the encoder: {read.k.shape[-2]} source rows give the keys, {read.q.shape[-2]} target rows the queries"
    return Claim(not answers, found, instead=asks and answers)


# -- words


@recomputes("s1-logits-10000", "s3-logits-10000")
def logits_of_ten_thousand():
    return linear(Linear(np.zeros((4, 10_000))), np.zeros((1, 4))).shape[-1]


EOS, WORD_A, WORD_I, SEE, SAW = range(5)
NEXT_WORD = {(): {WORD_A: 0.6, WORD_I: 0.4}, (WORD_A,): {SEE: 0.5, SAW: 0.5}, (WORD_I,): {SEE: 0.9, SAW: 0.1}}


@dataclass(frozen=True)
class Prefixes:
    """The state of a beam on a small tree: the words of each sentence so far."""

    words: tuple[tuple[int, ...], ...] = ()

    def take(self, rows) -> Prefixes:
        return Prefixes(tuple(self.words[row] for row in rows))


def beam_on_the_tree(width: int, n_best: int = 1):
    """Beam search over two words: the best sentences, and how many sentences were kept after the first word."""
    kept = []

    def step(state, last):
        words = tuple((*old, int(new)) for old, new in zip(state.words, last, strict=True)) if state.words else ((),)
        kept.append(len(words))
        probabilities = np.zeros((len(words), 5))
        for row, so_far in enumerate(words):
            for word, p in NEXT_WORD[so_far].items():
                probabilities[row, word] = p
        with np.errstate(divide="ignore"):
            return np.log(probabilities), Prefixes(words)

    best = beam_search(step, Prefixes(), sos=EOS, eos=EOS, max_length=2, width=width, n_best=n_best)
    return best, kept[1]


given("s1-beam-size", value=2)


@recomputes("s1-top-beams")
def sentences_returned():
    return len(beam_on_the_tree(width=2, n_best=2)[0])


# -- training, loss

SIX_WORDS = Vocabulary(["a", "am", "i", "thanks", "student", "<eos>"])


@recomputes("s1-vocab6")
def six_ids():
    return SIX_WORDS.ids(list(SIX_WORDS))


@recomputes("s1-onehot-am")
def one_hot_am():
    goal = cross_entropy(np.zeros((1, len(SIX_WORDS))), SIX_WORDS.ids(["am"]))[1].goal[0]  # what the loss wants
    holds = np.array_equal(goal, np.eye(6)[1])
    return Claim(holds, f"[{' '.join(f'{entry:.0f}' for entry in goal)}]")


given("s1-real-vocab", value=(30_000, 50_000))


@recomputes("s1-n-distributions")
def output_rows():
    sentence = SIX_WORDS.ids("i am a student <eos>".split())
    start = SIX_WORDS.ids(["<eos>"])  # the six words have no other token to start with
    cfg = Config(src_vocab=3, tgt_vocab=6, d_model=8, n_heads=2, d_ff=16, n_encoder_layers=1, n_decoder_layers=1)
    logits, _ = forward(init(cfg, np.random.default_rng(0)), cfg, [0, 1, 2], start + sentence[:-1])
    if cross_entropy(logits, sentence)[1].n != len(sentence):
        raise ArithmeticError("not every token of the sentence has its row of logits")
    return len(softmax(logits))
