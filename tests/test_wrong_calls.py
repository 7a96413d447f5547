"""Wrong calls: every public function, every argument, a long list of values that it cannot use.

Each call has one wrong argument, the others are right. It raises `ValueError` or `TypeError`, and the
text names the argument. What may happen instead is listed beside the argument, with the reason; an
entry of such a list that is not needed is a fault as well.
"""

import copy
import dataclasses
import importlib
import inspect
import math
import pathlib
import re
import signal
import types
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import pytest

from toytf import attention, byhand, corpus, generate, grammar, live, model, ops, optim
from toytf import translator as translators
from toytf.corpus import Pair, Vocabulary
from toytf.model import Config, FeedForward
from toytf.ops import LayerNorm, Linear

MODULES = (
    "ops positions attention tree model generate optim store train gradcheck "
    "corpus grammar translator size example byhand live"
)
SECONDS = 2.0  # of processor time, for one call
MEMORY = 2 * 2**30  # bytes that the calls may take beside what is there

# ---------------------------------------------------------------- values that are wrong nearly everywhere

NORM = LayerNorm(np.ones(2), np.zeros(2))

ANYWHERE = {
    "a string": "abc",
    "an empty string": "",
    "bytes": b"abc",
    "None": None,
    "an object": object(),
    "a class": int,
    "a function": len,
    "a dictionary": {"a": 1},
    "a set": {1.0},
    "a generator": iter(()),
    "a complex number": 1j,
    "a date": np.datetime64("2024-01-01"),
    "a ragged list": [[1.0], [1.0, 2.0]],
    "an empty list": [],
    "an empty array": np.zeros((0, 3)),
    "an array without columns": np.zeros((2, 0)),
    "an array of strings": np.array([["a", "b"], ["c", "d"]]),
    "an array of objects": np.array([[None, 1], [2, 3]], dtype=object),
    "an array of complex numbers": np.ones((2, 2)) * 1j,
    "a masked array": np.ma.masked_array(np.ones((2, 2)), [[False, True], [False, False]]),
    "a list of masked arrays": [np.ma.masked_array([1.0, 2.0], [False, True])] * 2,
    "a record array": np.zeros(2, dtype=[("a", float)]),
    "True": True,
    "NaN": math.nan,
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "minus one": -1,
    "minus a half": -0.5,
    "zero": 0,
    "a half": 0.5,
    "two and a half": 2.5,
    "ten thousand million": 10**10,
    "more than any integer of NumPy": 10**30,
    "more than any float": 10**400,
    "an array of one number": np.array([3]),
    "parameters of something else": NORM,
}


def _changed(a, place, value):
    a = np.array(a, dtype=np.result_type(np.asarray(a), type(value)))
    a[place] = value
    return a


def _longer(a, axis):
    return np.concatenate([a, np.take(a, [0], axis)], axis)


ARRAYS = {  # made from the right array
    "its copy as strings": lambda a: a.astype(str),
    "its copy as objects": lambda a: a.astype(object),
    "its copy as complex numbers": lambda a: a.astype(complex),
    "its copy with a mask of numpy.ma": lambda a: np.ma.masked_array(a, np.zeros(a.shape, bool)),
    "one of its rows": lambda a: a[0],
    "one axis more": lambda a: a[None],
    "one row more": lambda a: _longer(a, 0),
    "one column more": lambda a: _longer(a, -1),
    "no rows": lambda a: a[:0],
    "no columns": lambda a: a[..., :0],
}
FLOATS = ARRAYS | {
    "its copy as booleans": lambda a: a.astype(bool),
    "NaN inside": lambda a: _changed(a, (0,) * a.ndim, math.nan),
    "infinity inside": lambda a: _changed(a, (0,) * a.ndim, math.inf),
    "numbers near the end of the range": lambda a: a / (np.abs(a).max() or 1.0) * 1.7e308,
}
IDS = ARRAYS | {
    "its copy as booleans": lambda a: a.astype(bool),
    "its copy as floats": lambda a: a.astype(float),
    "fractions": lambda a: a + 0.5,
    "a negative id inside": lambda a: _changed(a, (0,) * a.ndim, -1),
    "an id beyond all vocabularies": lambda a: _changed(a, (0,) * a.ndim, 99),
}
FLAGS = ARRAYS | {"its copy as integers": lambda a: a.astype(int)}

# ---------------------------------------------------------------- arguments

SHOWN = "its numbers are not looked through, and what is not finite shows in the result, or in a later error"
SOME = "this function uses some of the parameters; what it uses, shows as in linear and the other small ones"
UNUSED = "these numbers are not used"
LARGE, EIGHT_BITS = "numbers near the end of the range", "an integer of eight bits below zero"
NOT_FINITE = ("NaN inside", "infinity inside", LARGE)
ROWS = ("one of its rows", "one axis more", "one row more")
SHAPES = (*ROWS, "one column more")
EMPTY = ("an empty list", "an empty array", "an array without columns", "no rows", "no columns")
COUNTS = ("ten thousand million", "more than any integer of NumPy", "more than any float")
REALS = ("minus one", "minus a half", "zero", "a half", "two and a half", *COUNTS[:2])
POSITIVE = ("a half", "two and a half", *COUNTS[:2])


@dataclass(frozen=True)
class Argument:
    """A right value, values that are wrong, and what may come of them beside an error that names the argument."""

    good: object
    bad: dict = field(default_factory=dict)
    accepted: dict = field(default_factory=dict)  # name of a bad value: why it is right here
    raising: dict = field(default_factory=dict)  # name of a bad value: another exception, and why
    names: tuple = ()  # other names that the text may give it

    def takes(self, reason, *values):
        """The same argument, which may accept some of the values."""
        return dataclasses.replace(self, accepted=self.accepted | dict.fromkeys(values, reason))

    def raises(self, error, reason, *values):
        """The same argument, where some of the values end in an exception of another kind."""
        return dataclasses.replace(self, raising=self.raising | dict.fromkeys(values, (error, reason)))

    def called(self, *names):
        """The same argument, of which errors may speak by other names."""
        return dataclasses.replace(self, names=(*self.names, *names))

    def values(self):
        """Every wrong value by its name."""
        return ANYWHERE | self.bad


def _made(good, recipes):
    return {name: recipe(np.asarray(good)) for name, recipe in recipes.items()}


def tree(good):
    """A dataclass of arrays of any shape."""

    def made(recipe):
        return type(good)(**{f.name: recipe(getattr(good, f.name)) for f in dataclasses.fields(good)})

    kinds = ("strings", "objects", "complex numbers", "booleans")
    recipes = {f"its copy as {kind}": FLOATS[f"its copy as {kind}"] for kind in kinds}
    recipes |= {key: FLOATS[key] for key in ("its copy with a mask of numpy.ma", "NaN inside", "infinity inside")}
    recipes |= {"lists in place of arrays": lambda a: a.tolist()}
    return Argument(good, {key: made(recipe) for key, recipe in recipes.items()})


def floats(good):
    """An array of exactly this shape, all of it finite."""
    return Argument(good, _made(good, FLOATS))


def rows(good):
    """Rows of this width."""
    return floats(good).takes("any leading axes", *ROWS)


def anything(good):
    """Numbers of any shape."""
    return floats(good).takes("any shape", *SHAPES)


def gradient(good):
    """An array of exactly this shape, which may hold anything."""
    return floats(good).takes(SHOWN, *NOT_FINITE)


def single(good):
    """Numbers of any shape, a single one too, and what is not finite stays where it stands."""
    numbers = ("NaN", "infinity", "minus infinity", *REALS[:-1], "an array of one number")
    return (
        anything(good)
        .takes(SHOWN, *NOT_FINITE)
        .takes("a single number will do", *numbers)
        .takes("no number stays none", *EMPTY)
    )


def ids(good):
    return Argument(good, _made(good, IDS))


def flags(good):
    return Argument(good, _made(good, FLAGS))


def whole(good):
    return Argument(good, {"a whole float": 3.0, EIGHT_BITS: np.int8(-3)})


def natural(good):
    """A whole number from 0."""
    return whole(good).takes("it may be 0", "zero")


def count(good):
    """A size that is only reckoned with: nothing of that size is made."""
    return whole(good).takes("it may be of any length", *COUNTS)


def real(good):
    return Argument(good, {"an array that holds a string": np.array("a")})


def positive(good):
    return real(good).takes("it is positive", *POSITIVE)


def switch(good=True):
    return Argument(good, {"the word no": "no", "one": 1}).takes("it is one", "True")


def choice(good):
    return Argument(good, {"an unknown name": "tanh", "capital letters": good.upper()})


def thing(good, **bad):
    return Argument(good, bad)


def text(good="x"):
    return thing(good).takes("it is a text", "a string", "an empty string")


def listing(good):
    """A list of things of one kind."""
    first = next(iter(good))
    return Argument(
        good,
        {
            "one of them alone": first,
            "None among them": [*good, None],
            "a number among them": [*good, 3],
            "a list among them": [*good, [first]],
        },
    )


def function(good):
    return Argument(
        good,
        {
            "a class": lambda *a, **k: 1j,
            "a function": lambda *a, **k: [],
            "a function that gives nothing": lambda *a, **k: None,
            "a function that gives a string": lambda *a, **k: "abc",
            "a function that gives NaN": lambda *a, **k: math.nan,
            "a function that gives two strings": lambda *a, **k: ("abc", "abc"),
            "a function that gives two arrays": lambda *a, **k: (np.zeros((1, 1, 1)), np.zeros((1, 1, 1))),
        },
    )


def parameters(good):
    """A dataclass of arrays: each of its fields wrong, one after the other."""
    bad = {}
    for f in dataclasses.fields(good):
        value = getattr(good, f.name)
        wrong = {"a string": "abc", "None": None, "a number": 1.0, "a list": [[1.0, 2.0]], "something else's": NORM}
        if isinstance(value, np.ndarray):
            wrong |= {key: recipe(value) for key, recipe in FLOATS.items()}
        for key, part in wrong.items():
            bad[f"{f.name}: {key}"] = dataclasses.replace(good, **{f.name: part})
    shown = [key for key in bad if key.endswith(NOT_FINITE)]
    return Argument(good, bad, names=tuple(sorted(field_names(good)))).takes(SHOWN, *shown)


def field_names(good) -> set[str]:
    """The names of a dataclass's fields, and of theirs."""
    names = set()
    for f in dataclasses.fields(good):
        value = getattr(good, f.name)
        for part in value if isinstance(value, list) else [value]:
            if dataclasses.is_dataclass(part):
                names |= field_names(part)
        names.add(f.name)
    return names


def unused(argument, *fields, why=UNUSED):
    """Parameters of which some fields are not used."""
    return argument.takes(why, *(key for key in argument.bad if key.startswith(fields) and key.endswith(NOT_FINITE)))


def lacking(argument, *fields):
    """Parameters of which some fields may be None."""
    return argument.takes("it may be left out", *(f"{f}: None" for f in fields))


def optional(argument):
    return argument.takes("it may be left out", "None")


ITERABLE = (
    "bytes",
    "a dictionary",
    "a ragged list",
    "a list of masked arrays",
    "an array without columns",
    "a masked array",
    "an array of strings",
    "an array of objects",
    "an array of complex numbers",
    "a record array",
)


def mask(good):
    return optional(flags(good)).takes("it fits by broadcasting", "one of its rows", "True")


# ---------------------------------------------------------------- right values

RNG = np.random.default_rng(0)
CFG = Config(7, 8, d_model=4, n_heads=2, d_head=3, d_ff=5, n_encoder_layers=1, n_decoder_layers=1)
PARAMS = model.init(CFG, RNG)
GRADS = model.init(CFG, RNG)
SRC, TGT = np.array([[1, 2, 3], [4, 0, 6]]), np.array([[1, 2], [3, 0]])
SRC_FLAGS, TGT_FLAGS = np.array([[True] * 3, [True, True, False]]), np.array([[True, True], [True, False]])
LOGITS, TRACE = model.forward(PARAMS, CFG, SRC, TGT)
X, Y, MEMORY_ROWS = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 5)), RNG.normal(size=(2, 4))
LINEAR = Linear(RNG.normal(size=(4, 5)), RNG.normal(size=5))
LAYER_NORM = LayerNorm(RNG.normal(size=4), RNG.normal(size=4))
HEADS = dataclasses.replace(
    PARAMS.encoder[0].self_attention, b_q=np.ones(6), b_k=np.ones(6), b_v=np.ones(6), b_o=np.ones(4)
)
ENCODER_LAYER, DECODER_LAYER = PARAMS.encoder[0], PARAMS.decoder[0]
Q, K, V = RNG.normal(size=(2, 3)), RNG.normal(size=(4, 3)), RNG.normal(size=(4, 5))
MASK = np.array([[True, True, False, True], [True, False, True, True]])
_, NORM_TRACE = ops.layer_norm(LAYER_NORM, X)
_, LOSS_TRACE = ops.cross_entropy(LOGITS, TGT)
_, ATTENTION_TRACE = attention.attention(Q, K, V)
_, HEADS_TRACE = attention.multi_head_attention(HEADS, X, MEMORY_ROWS, n_heads=2)
_, FEED_TRACE = model.feed_forward(ENCODER_LAYER.feed_forward, X)
_, ENCODER_TRACE = model.encoder_layer(ENCODER_LAYER, CFG, X)
_, DECODER_TRACE = model.decoder_layer(DECODER_LAYER, CFG, X, MEMORY_ROWS)
VOCABULARY = Vocabulary(["<pad>", "<sos>", "<eos>", "hello", "world"])
PAIRS = [Pair((f"w{i}", "x"[: i % 2] or "y"), (f"v{i}",)) for i in range(10)]
WORDS = corpus.vocabularies(PAIRS)
BATCH = corpus.to_batch(PAIRS, *WORDS)
SMALL = translators.Translator.new(
    np.random.default_rng(0), WORDS, d_model=4, n_heads=2, d_ff=5, n_encoder_layers=1, n_decoder_layers=1
)
CAT = grammar.Phrase(grammar.SUBJECTS[0], (grammar.ADJECTIVES[0],), grammar.DETERMINERS[0])
ONE_LOGITS, ONE_TRACE = model.forward(PARAMS, CFG, SRC[0], TGT[0])
STATE = generate.start(PARAMS, CFG, SRC)
ONE_STATE = generate.start(PARAMS, CFG, SRC[0])
STEP = generate.stepper(PARAMS, CFG)
WORKING = byhand.matmul([[1, 2]], [[1], [2]], "s", rows=["q"], cols=["k"])


def loss_of(params, batch):
    return 1.0, copy.deepcopy(GRADS)


# ---------------------------------------------------------------- the calls

CALLS: dict[str, tuple[Callable, dict[str, Argument]]] = {}


def call(place, run=None, what="", **arguments):
    """Enter a function by its place below `toytf`; `run` is what is called, where that is more than the function."""
    *path, last = place.split(".")
    owner = importlib.import_module(f"toytf.{path[0]}")
    for part in path[1:]:
        owner = getattr(owner, part)
    CALLS[place + what] = (run or getattr(owner, last), arguments)


cfg, rng = thing(CFG), thing(np.random.default_rng(0))
axis = whole(-1).takes("it has that axis", "zero", "minus one")
part = real(0.5).takes("it is more than nothing and less than all", "a half")
share = part.takes("nothing is a share too", "zero")
ONE = "an array of one number"
IN_RANGE = "what is asked for is within the float range"
OVERFLOW = "an infinity in the result says so"

# ---------------------------------------------------------------- ops

call("ops.softmax", x=anything(X).takes(IN_RANGE, LARGE).takes("any shape", ONE), axis=axis)
call("ops.log_softmax", x=anything(X).takes(IN_RANGE, LARGE).takes("any shape", ONE), axis=axis)
call("ops.softmax_naive", x=gradient(X).takes("any shape", *SHAPES, ONE), axis=axis)
call("ops.softmax_backward", weights=gradient(X), dout=gradient(X), axis=axis)
call("ops.linear", p=lacking(parameters(LINEAR), "bias"), x=rows(X).takes(OVERFLOW, LARGE))
call(
    "ops.linear_backward",
    p=unused(lacking(parameters(LINEAR), "bias"), "bias"),
    x=gradient(X),
    dout=gradient(Y),
)
table = gradient(X).takes("any table", "one row more", "one column more")
call("ops.embedding", table=table, ids=ids(np.array([0, 2, 1])).takes("any shape", *SHAPES, "zero", "an array of ones"))
call(
    "ops.embedding_backward",
    size=whole(3),
    ids=ids(np.array([0, 2, 1])),
    dout=gradient(X).takes("any width", "one column more"),
)
for name in ("relu", "gelu", "gelu_tanh"):
    call(f"ops.{name}", x=single(X))
call("ops.normal_cdf", x=single(X).takes("all of the distribution lies below it", "infinity inside"))
call("ops.relu_backward", x=gradient(X).takes("only its sign is used", *NOT_FINITE), dout=gradient(X))
call("ops.gelu_backward", x=gradient(X), dout=gradient(X))
call("ops.layer_norm", p=parameters(LAYER_NORM), x=rows(X).takes(IN_RANGE, LARGE), eps=positive(1e-5))
call("ops.layer_norm_backward", p=unused(parameters(LAYER_NORM), "beta"), trace=thing(NORM_TRACE), dout=gradient(X))
call(
    "ops.layer_norm_eps_outside",
    x=anything(X).takes("as in the source that it shows", *NOT_FINITE, ONE),
    eps=positive(1e-6),
)
call(
    "ops.cross_entropy",
    logits=floats(LOGITS).takes(IN_RANGE, LARGE).takes("a larger vocabulary", "one column more"),
    targets=ids(TGT),
    is_token=optional(flags(TGT_FLAGS)),
    label_smoothing=share,
)
call("ops.cross_entropy_backward", trace=thing(LOSS_TRACE))

# ---------------------------------------------------------------- positions

place_of = whole(2).takes("a position, however far", "zero", COUNTS[0])
call("positions.sinusoids", length=whole(3), d_model=whole(4), start=place_of)
call("positions.sinusoids_column_as_i", length=whole(3), d_model=whole(4))
call("positions.sinusoids_halves", length=whole(3), d_model=whole(4))
call("positions.shift", k=place_of.takes("either way", "minus one", EIGHT_BITS), d_model=whole(4))

# ---------------------------------------------------------------- attention

scale = optional(real(0.5)).takes("any number that is finite", *REALS)
# Products of q and k may leave the float range where neither does: then the error speaks of the scores.
# And where they do not fit the mask, it speaks of the mask, and says what shape they ask for.
q = rows(Q).called("scaled_scores", "mask")
k = floats(K).takes("any leading axes", "one axis more").called("scaled_scores", "mask")
v = floats(V).takes("any leading axes", "one axis more").takes("any width", "one column more").takes(IN_RANGE, LARGE)
call("attention.attention", q=q, k=k, v=v, mask=mask(MASK), scale=scale)
call("attention.attention_backward", trace=thing(ATTENTION_TRACE), dout=gradient(attention.attention(Q, K, V)[0]))
call(
    "attention.masked_softmax",
    scores=floats(V[:2, :4]).takes("any leading axes", "one axis more").takes(IN_RANGE, LARGE).called("mask"),
    mask=mask(MASK),
)
call("attention.causal_mask", length=whole(3))
call("attention.padding_mask", is_token=flags(SRC_FLAGS).takes("any shape", *SHAPES))
three = RNG.normal(size=(2, 4, 3))
matrices = floats(three).takes(SHOWN, *NOT_FINITE).called("the heads side by side", "MultiHead")
w_o = floats(HEADS.w_o).takes(SHOWN, *NOT_FINITE).called("MultiHead")
call("attention.MultiHead.from_heads", w_q=matrices, w_k=matrices, w_v=matrices, w_o=w_o)
memory_rows = optional(rows(MEMORY_ROWS)).called("scaled_scores", "mask").takes(IN_RANGE, LARGE)
heads = lacking(parameters(HEADS), "b_q", "b_k", "b_v", "b_o")
call(
    "attention.multi_head_attention",
    p=heads,
    x=rows(X).called("scaled_scores", "mask"),
    memory=memory_rows,
    n_heads=whole(2),
    mask=mask(np.array([[True, False]] * 3)),
    scale=scale,
)
call(
    "attention.multi_head_attention_backward",
    p=unused(heads, "b_q", "b_k", "b_v", "b_o"),
    trace=thing(HEADS_TRACE),
    dout=gradient(X),
)
call("attention.split_heads", x=gradient(X).takes("any leading axes", *ROWS).called("n_heads"), n_heads=whole(2))
call("attention.merge_heads", x=gradient(RNG.normal(size=(2, 3, 4))).takes("any shape", *SHAPES))

# ---------------------------------------------------------------- model

call(
    "model.Config",
    **{f: count(getattr(CFG, f)) for f in ("src_vocab", "tgt_vocab", "d_model", "n_heads", "d_ff")},
    **{f: count(1).takes("it leaves the stack out", "zero") for f in ("n_encoder_layers", "n_decoder_layers")},
    d_head=optional(count(3)),
    **{
        f: switch() for f in ("residual", "scale", "positions", "causal", "cross_attention", "bias", "scale_embeddings")
    },
    norm=choice("post"),
    activation=choice("relu"),
    eps=positive(1e-5),
)
call("model.init", cfg=cfg, rng=rng, dtype=thing(np.float64))
call("model.shapes", cfg=cfg)
feed = parameters(ENCODER_LAYER.feed_forward)
call("model.feed_forward", p=feed, x=rows(X).takes(OVERFLOW, LARGE), activation=choice("relu"))
call(
    "model.feed_forward_backward",
    p=unused(feed, "b_1", "b_2"),
    trace=thing(FEED_TRACE),
    dout=gradient(X),
    activation=choice("relu"),
)
norm = parameters(LAYER_NORM)
call(
    "model.add_and_norm",
    cfg=cfg,
    norm=norm,
    x=rows(X).takes(IN_RANGE, LARGE),
    sublayer=function(lambda rows: (rows, None)),
)
call(
    "model.add_and_norm_backward",
    cfg=cfg,
    norm=unused(norm, "beta"),
    trace=thing(ENCODER_TRACE.feed_forward),
    dout=gradient(X),
    sublayer_backward=function(lambda d: (d, None)),
)
own, across = mask(np.eye(3, dtype=bool)), mask(np.array([[True, False]] * 3))
call("model.encoder_layer", p=parameters(ENCODER_LAYER), cfg=cfg, x=rows(X).called("scaled_scores", "mask"), mask=own)
call("model.encoder_layer_backward", p=parameters(ENCODER_LAYER), cfg=cfg, trace=thing(ENCODER_TRACE), dout=gradient(X))
call(
    "model.decoder_layer",
    p=parameters(DECODER_LAYER),
    cfg=cfg,
    mask=own,
    memory_mask=across,
    x=floats(X).takes("any leading axes", "one axis more").called("scaled_scores", "mask", "memory_mask"),
    memory=floats(MEMORY_ROWS).called("scaled_scores", "sublayer", "memory_mask").takes(IN_RANGE, LARGE),
)
call("model.decoder_layer_backward", p=parameters(DECODER_LAYER), cfg=cfg, trace=thing(DECODER_TRACE), dout=gradient(X))
vocabulary = gradient(PARAMS.src_embedding).takes("a larger vocabulary", "one row more")
call("model.embed", table=vocabulary, cfg=cfg, ids=ids(SRC).takes("any shape", *SHAPES, ONE), start=place_of)
call(
    "model.embed_backward",
    table=vocabulary.takes("only its shape is used", *NOT_FINITE),
    cfg=cfg,
    ids=ids(SRC),
    dx=gradient(RNG.normal(size=(2, 3, 4))),
)
params = lacking(parameters(PARAMS), "encoder_norm", "decoder_norm", "output").called("x", "p", "trace")
params = unused(params, "src_embedding", "tgt_embedding", why=SOME)
params = params.takes("it is not used", "encoder_norm: something else's", "decoder_norm: something else's")
source, target = optional(flags(SRC_FLAGS)), optional(flags(TGT_FLAGS))
call("model.encode", params=params, cfg=cfg, src=ids(SRC), src_is_token=source, keep_trace=switch())
memory = model.encode(PARAMS, CFG, SRC)[0]
call(
    "model.decode",
    params=params,
    cfg=cfg,
    tgt=ids(TGT),
    memory=floats(memory).called("scaled_scores", "mask"),
    tgt_is_token=target,
    src_is_token=source,
    keep_trace=switch(),
)
call(
    "model.forward",
    params=params,
    cfg=cfg,
    src=ids(SRC),
    tgt=ids(TGT),
    src_is_token=source,
    tgt_is_token=target,
    keep_trace=switch(),
)
call("model.backward", params=params, cfg=cfg, trace=thing(TRACE), dlogits=gradient(LOGITS))
call("model.encode_backward", params=params, cfg=cfg, trace=thing(TRACE.encoder), dmemory=gradient(memory))
a_tree = tree(LINEAR).takes("any tree of arrays", "an empty list", "parameters of something else")
any_dtype = [key for key in a_tree.bad if key.startswith("its copy")]
for name in ("named_arrays", "count"):
    call(
        f"tree.{name}",
        params=a_tree.takes("arrays of any kind", *any_dtype).takes(
            "it is an array all the same", "NaN inside", "infinity inside"
        ),
    )
call("tree.paired_arrays", params=parameters(LINEAR), grads=parameters(LINEAR))
new = thing("model.npz").takes("it is the name of a file", "a string")
there = thing(translators.TRAINED).raises(FileNotFoundError, "there is no such file", "a string")
call(
    "store.save",
    path=new,
    params=params,
    cfg=cfg,
    extra=optional(thing({"a": 1}, **{"a class in it": {"a": int}})).takes("it is one", "a dictionary"),
)
call("store.load", path=there)
call("store.load_extra", path=there)

# ---------------------------------------------------------------- generate

writing = {
    "step": function(STEP),
    "sos": natural(1),
    "eos": natural(2).takes("no token ends a sentence", "minus one"),
    "max_length": whole(3),
}
top_k = optional(whole(2)).takes("all that there are", *COUNTS)
rows_of_state = ids(np.array([0, 1])).takes("as many as one likes", "one row more", "one column more", ONE)
call("generate.start", params=params, cfg=cfg, src=ids(SRC), src_is_token=source, cached=switch())
call("generate.stepper", params=params, cfg=cfg)
call("generate.stepper", STEP, "(...)(state, ids)", state=thing(STATE), ids=ids(np.array([1, 3])))
call("generate.DecodeState.take", STATE.take, rows=rows_of_state)
call("generate.greedy", **writing, state=thing(STATE), n=whole(2))
call(
    "generate.sample",
    **writing,
    state=thing(STATE),
    n=whole(2),
    rng=rng,
    temperature=positive(0.7),
    top_k=top_k,
    top_p=optional(part),
)
probs = floats(np.array([0.1, 0.6, 0.3])).takes("of any number of tokens", ONE, "one row more", "one column more")
call(
    "generate.kept_tokens",
    probs=probs.takes("their sum need not be 1", LARGE),
    top_k=top_k,
    top_p=optional(part),
)
call(
    "generate.beam_search",
    **writing,
    state=thing(ONE_STATE),
    width=whole(3),
    length_penalty=positive(0.6).takes("ranks by probability alone", "zero"),
    n_best=whole(2),
)

# ---------------------------------------------------------------- optim, train, gradcheck

kept = unused(parameters(LINEAR), "weight", "bias", why="what is no number stays none, and nothing is returned")
pair = {"params": kept, "grads": parameters(LINEAR)}
call("optim.sgd_step", **pair, learning_rate=positive(0.1))
means = optional(floats(np.ones(3))).takes("it is a float", LARGE)
call(
    "optim.Adam", beta1=share, beta2=share, eps=positive(1e-9), t=natural(3).takes("late", COUNTS[0]), m=means, v=means
)
call("optim.Adam.step", lambda **a: optim.Adam().step(**a), **pair, learning_rate=positive(0.1))
call("optim.clip", grads=tree(LINEAR).takes("any tree of arrays", "parameters of something else"), limit=positive(1.0))
call(
    "optim.gradient_length",
    grads=tree(LINEAR)
    .takes("any tree of arrays", "parameters of something else")
    .takes(SHOWN, "NaN inside", "infinity inside"),
)
call("optim.paper_schedule", d_model=count(4), warmup=count(10))
call("optim.paper_schedule", optim.paper_schedule(4, 10), "(...)(t)", t=whole(3).takes("late", COUNTS[0]))
call("optim.cosine_schedule", peak=positive(0.1), warmup=natural(3), steps=count(10))
call("optim.cosine_schedule", optim.cosine_schedule(0.1, 3, 10), "(...)(t)", t=whole(3))
others = [f"{side}coder_norm: a {kind}" for side in ("en", "de") for kind in ("string", "number")]
ignored = params.takes("what is no array is no parameter", *others)
call(
    "train.train",
    params=ignored,
    loss_and_gradients=function(loss_of),
    data=thing([None] * 3).takes("it can be gone through", *ITERABLE),
    optimiser=thing(optim.Adam()),
    learning_rate=function(lambda t: 0.1),
    steps=whole(2).called("data"),
    clip_at=optional(positive(1.0)),
    progress=optional(switch(False)),
)
call("gradcheck.numeric_gradient", f=function(np.sum), x=single(X), step=positive(1e-6))
call(
    "gradcheck.elementwise",
    f=function(np.max),
    x=floats(X).takes(OVERFLOW, LARGE),
    gradient=gradient(X),
    step=positive(1e-6),
)
call("gradcheck.directional", loss=function(lambda: 1.0), **pair, rng=rng, step=positive(1e-6))

# ---------------------------------------------------------------- corpus, grammar

pairs = listing(PAIRS)
call("corpus.Vocabulary", tokens=listing(["a", "b"]))
unknown = "as a dictionary does, for a word that it lacks"
call(
    "corpus.Vocabulary.id", VOCABULARY.id, token=thing("hello").raises(KeyError, unknown, "a string", "an empty string")
)
nothing = ("of nothing nothing is made", "an empty list", "an empty array", "a generator")
call("corpus.Vocabulary.ids", VOCABULARY.ids, tokens=listing(["hello", "world"]).takes(*nothing))
numbers = ids(np.array([1, 2])).takes(*nothing).takes("of nothing nothing is made", "no rows", "no columns")
numbers = numbers.takes("any list of ids", ONE, "one row more", "one column more", "its copy as objects")
call("corpus.Vocabulary.tokens", VOCABULARY.tokens, ids=numbers)
pad_id = natural(0).takes("an id", COUNTS[0])
call("corpus.pad", sentences=listing([[1, 2], [3]]), length=whole(3), pad_id=pad_id)
call(
    "corpus.read_pairs",
    path=thing("pairs.tsv").raises(FileNotFoundError, "there is no such file", "a string"),
)
call(
    "corpus.Pair",
    src=listing(("a", "b")),
    tgt=listing(("a", "b")),
    links=optional(listing((0, 1))).takes("places", ONE, "a number among them", *nothing),
)
call("corpus.split", pairs=pairs, rng=rng, held_out=part)
call("corpus.vocabularies", pairs=pairs)
call("corpus.Batch.take", BATCH.take, rows=rows_of_state)
call("corpus.to_batch", pairs=pairs, src_vocab=thing(WORDS[0]), tgt_vocab=thing(WORDS[1]))
call("corpus.batches", lambda **a: next(corpus.batches(**a)), data=thing(BATCH), size=whole(3), rng=rng)
call(
    "grammar.Phrase.pair",
    lambda **a: grammar.Phrase(**a).pair(),
    noun=thing(CAT.noun),
    adjectives=listing(CAT.adjectives).takes(*nothing),
    determiner=optional(thing(CAT.determiner)),
    several=switch(),
)
call("grammar.sentence", subject=thing(CAT), verb=thing(grammar.VERBS[0]), thing=thing(CAT))
call("grammar.greeting", noun=thing(CAT.noun), adjectives=listing(CAT.adjectives).takes(*nothing), several=switch())
call(
    "grammar.draw_pairs",
    rng=rng,
    n=whole(3),
    adjectives=thing((0, 1)).takes("one number", ONE),
    greetings=share,
    without=pairs.takes(*nothing),
)
call("grammar.corpus", rng=rng, n=whole(30))
call("grammar.all_words")

# ---------------------------------------------------------------- translator, size

small = unused(parameters(SMALL.params), "src_embedding", "tgt_embedding", why=SOME).called("x", "p", "trace")
small = small.takes("post-norm models have none", "encoder_norm: None", "decoder_norm: None")
call(
    "translator.loss_and_gradients",
    params=small,
    batch=thing(BATCH),
    cfg=thing(SMALL.cfg),
    label_smoothing=share,
)
call(
    "translator.Translator",
    params=thing(SMALL.params),
    cfg=thing(SMALL.cfg),
    src_vocab=thing(WORDS[0]),
    tgt_vocab=thing(WORDS[1]),
)
call("translator.Translator.new", rng=rng, words=optional(listing(WORDS)), dtype=thing(np.float64))
call(
    "translator.Translator.learn",
    lambda **a: next(copy.deepcopy(SMALL).learn(**a)),
    pairs=pairs,
    rng=rng,
    batch_size=whole(3),
    steps=whole(2).takes("nobody need read all records", COUNTS[0]),
    learning_rate=positive(0.1).takes("it can be called", "a class").raises(TypeError, "its own", "a function"),
    warmup=natural(1).takes("longer than the training", *COUNTS),
    label_smoothing=share,
    clip_at=optional(positive(1.0)),
    progress=optional(switch(False)),
    objective=function(translators.loss_and_gradients).called("loss_and_gradients"),
)
call(
    "translator.Translator.translate",
    SMALL.translate,
    sentences=listing(["w1 y", "w2 y"]).takes(*nothing),
    width=whole(2),
)
sources = listing([("w1", "y"), ("w2",)]).takes(*nothing).raises(KeyError, unknown, "an array of strings")
call("translator.Translator.write", SMALL.write, sources=sources, width=whole(2))
call("translator.Translator.exact", SMALL.exact, pairs=pairs.takes(*nothing))
call("translator.Translator.save", SMALL.save, path=new)
call("translator.Translator.load", path=there)
lengths = {"source": count(3), "target": count(2)}
call("size.parameters", cfg=cfg)
call("size.multiplications", cfg=cfg, **lengths)
call("size.writing", cfg=cfg, **lengths, cached=switch())
call("size.crossover", cfg=cfg)
call("size.activations", cfg=cfg, batch=count(2), **lengths)
call("size.cache", cfg=cfg, batch=count(2), **lengths)
call("size.memory", cfg=cfg, batch=count(2), **lengths, itemsize=count(8))

# ---------------------------------------------------------------- byhand

TWO = np.array([[1.0, 2.0], [3.0, 5.0]])
LABELS = ("a ragged list", "an array without columns", "an array of strings", "an array of objects", "a record array")
two = floats(TWO).called("rows", "cols")  # of which there are labels for two
labels = optional(thing(["a", "b"])).takes("what can be written can be a label", *LABELS, "an array of complex numbers")
labels = labels.takes("what can be written can be a label", "a list of masked arrays")
decimals = natural(4)
plain = {"name": text(), "rows": labels, "decimals": decimals}
full = {**plain, "formula": text(), "cols": labels}
written = {**full, "sci": switch()}
call("byhand.table", array=two, **{k: v for k, v in written.items() if k != "formula"})
call("byhand.matmul", a=two, b=two, **written)
row = floats(TWO[0]).takes("a matrix of one row", "one axis more")
call("byhand.dot", a=row, b=row, name=text(), formula=text(), decimals=decimals)
call("byhand.add", a=two, b=two, **full)
call("byhand.divide", a=two, divisor=positive(3.0).takes("it is not 0", *REALS), root=switch(), **full)
call("byhand.softmax", scores=two, subtract_max=switch(), **written)
call("byhand.weighted_sum", weights=two, values=two, **written)
call(
    "byhand.mask",
    scores=two.called("may_attend"),
    may_attend=flags(TWO > 1).takes("it fits by broadcasting", "one of its rows", "True"),
    **full,
)
call("byhand.concat", lambda parts, **rest: byhand.concat(parts, **rest), parts=two, **full)
call("byhand.relu", x=two, **full)
wider = two.takes("of any width", "one column more")
call("byhand.mean", x=wider, **plain)
call("byhand.variance", x=wider, unbiased=switch(), **plain)
call("byhand.layer_norm", x=two, eps=positive(1e-5), eps_outside=switch(), **full)
call("byhand.softmax_backward", weights=two, dout=two, **written)
call("byhand.layer_norm_backward", x=two, dout=two, eps=positive(1e-5), **full)
call("byhand.cross_entropy_backward", probs=two, goal=two, **full)
call(
    "byhand.positions",
    pos=thing([0, 1]).called("rows"),
    d_model=whole(4),
    name=text(),
    column_as_i=switch(),
    rows=labels,
    decimals=decimals,
)
call(
    "byhand.attention",
    q=two.called("may_attend"),
    k=two.called("may_attend"),
    v=two.takes("of any width", "one column more"),
    name=text(),
    divisor=optional(positive(3.0).takes("it is not 0", *REALS)),
    may_attend=mask(TWO > 0),
    subtract_max=switch(),
    rows=labels,
    decimals=decimals,
    sci=switch(),
)
call("byhand.chain", lambda steps: byhand.chain(steps), steps=thing(WORKING))
call("byhand.Chain.sources", lambda k: byhand.chain(WORKING).sources(k), k=natural(0))
call("byhand.beside", lambda workings: byhand.beside(workings), workings=thing(WORKING))
call("byhand.Working.only", lambda where: WORKING.only(where), where=thing("q, k"))
ALSO = ("True", "its copy as booleans", "infinity", "minus infinity", "NaN", *REALS, ONE, *EMPTY, *NOT_FINITE)
call("byhand.fmt", x=anything(TWO).takes("it can be written", *ALSO), decimals=decimals, sci=switch())


def labels_of(n):
    return dataclasses.replace(labels, good=list("abcdefgh"[:n]))


call(
    "byhand.follow",
    params=thing(PARAMS),
    cfg=cfg,
    trace=thing(ONE_TRACE),
    array=thing("logits"),
    index=thing((0, 1)),
    depth=optional(count(2)),
    breadth=count(1),
    attention=choice("values"),
    src=labels_of(3),
    tgt=labels_of(2),
    words=labels_of(8),
    decimals=decimals,
)

# ---------------------------------------------------------------- live


def element(name, /, **arguments):
    """Enter a function of `toytf.live`: what it accepts must also be written into a page."""
    call(f"live.{name}", lambda **given: getattr(live, name)(**given).html(), **arguments)


ident = thing("here", **{"a space in it": "a b", "a quote in it": 'a"b'}).takes("it is a word", "a string")
names = listing(["a", "b"])
element("divisor", scores=two, d_k=whole(3), rows=names, cols=names, id=ident)
element("clocks", d_model=whole(4), length=whole(201), pos=natural(1), k=natural(3), id=ident)
element(
    "mask",
    scores=two.called("may_attend"),
    may_attend=flags(np.array([[True, False], [True, True]])).takes(
        "it fits by broadcasting", "one of its rows", "True"
    ),
    values=optional(two.takes("of any width", "one column more")),
    rows=names,
    cols=names,
    name=text("S"),
    id=ident,
)
element("sampling", logits=floats(TWO[0]).called("words"), words=names, id=ident)
element(
    "shares",
    values=floats(np.array([[4.0, 1.0], [1.0, 3.0]])).called("wanted"),
    wanted=floats(np.array([3.7, 2.8])),
    rows=names,
    cols=names,
    query=text("it"),
    id=ident,
)
branches = {(): {"a": 0.6, "b": 0.4}, ("a",): {"c": 1.0}}
element(
    "beam",
    trees=thing(
        {"t": branches},
        **{
            "a number for a name": {1: branches},
            "a tree that is a list": {"t": [1.0]},
            "words as one string": {"t": branches | {"a": {"c": 1.0}}},
            "a word that is a number": {"t": {(): {1: 1.0}}},
            "followers as a list": {"t": {(): ["a"]}},
            "a probability that is a string": {"t": {(): {"a": "1"}}},
            "a probability that is NaN": {"t": {(): {"a": math.nan}}},
            "the start within a sentence": {"t": {(): {"<sos>": 1.0}}},
        },
    ),
    max_length=whole(3).called("step"),
    eos=thing("<eos>", **{"what begins a sentence": "<sos>"}).takes("it is a word", "a string"),
    step=natural(1),
    id=ident,
)
weights = floats(RNG.normal(size=(2, 2)))
element(
    "nudge",
    x=weights.called("targets"),
    w_q=weights.called("w_k"),
    w_k=weights,
    w_v=weights,
    w_out=weights.called("w_v").takes("more words", "one column more"),
    targets=ids(np.array([0, 1])),
    divisor=real(3.0).takes("it is positive", "a half", "two and a half"),
    id=ident,
)
word = whole(2)
english = thing("hello world").raises(KeyError, unknown, "a string")
element("translator", source=english, word=word, id=ident)
element(
    "patching",
    source=english.called("word"),
    other=english,
    rows=listing((1,)).takes("no row is swapped", *nothing[1:]),
    silent=listing(("cross1",)).takes("no head is silent", *nothing[1:]),
    word=word,
    id=ident,
)


def in_a_layer(layer, put):
    """A layer of a model, and its attention and its feed-forward network, wrong in one field after the other."""
    bad = {key: put(wrong) for key, wrong in parameters(layer).bad.items()}
    for f in ("self_attention", "feed_forward"):
        parts = parameters(getattr(layer, f)).bad.items()
        bad |= {f"{f}.{key}": put(dataclasses.replace(layer, **{f: wrong})) for key, wrong in parts}
    return bad


no_bias = [f"self_attention.b_{x}: None" for x in "qkvo"]
shown_there = [key for key in in_a_layer(ENCODER_LAYER, id) if key.endswith(LARGE)]
stacked = listing([ENCODER_LAYER])
stacked = dataclasses.replace(stacked, bad=stacked.bad | in_a_layer(ENCODER_LAYER, lambda layer: [layer]))
leaving = "how numbers leave the float range is what it shows"
element(
    "stack",
    x=floats(X[:2]).takes(leaving, LARGE).called("rows"),
    layers=stacked.takes("the paper's attention has none", *no_bias).takes(leaving, *shown_there).called("n_heads"),
    n_heads=whole(2),
    depth=whole(1),
    rows=names,
    id=ident,
)
TINY = dataclasses.replace(CFG, src_vocab=2, tgt_vocab=3, n_heads=1, scale_embeddings=False)
TINY_PARAMS = model.init(TINY, RNG)
TINY_PARAMS.encoder[0].feed_forward = FeedForward(*(RNG.normal(size=n) for n in ((4, 5), 5, (5, 4), 4)))
whole_model = parameters(TINY_PARAMS)
inner = in_a_layer(TINY_PARAMS.encoder[0], lambda layer: dataclasses.replace(TINY_PARAMS, encoder=[layer]))
whole_model = dataclasses.replace(whole_model, bad=whole_model.bad | inner, accepted={})
without_last_norms = ("post-norm models have none", "encoder_norm: None", "decoder_norm: None")
element(
    "machine",
    params=whole_model.takes(*without_last_norms).takes("the paper's attention has none", *no_bias),
    cfg=thing(TINY, **{"another width": dataclasses.replace(TINY, d_model=2)}).called("params.src_embedding"),
    source=names,
    target=listing(["a", "c"]),
    words=listing(["a", "b", "c"]),
    published=floats(X[:2])
    .takes("what was not printed is computed", "no rows")
    .takes("more are printed than are read", "one row more"),
    positions=choice("paper"),
    until=dataclasses.replace(optional(choice("attention")), good=None),
    id=ident,
)


# ---------------------------------------------------------------- one call


class TooLong(Exception):
    """A call took more processor time than any of these should."""


@contextmanager
def limited():
    """Stop what takes longer than `SECONDS` or more than `MEMORY`, where the system can."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(signum, frame):
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)  # not SIGALRM, which pytest-timeout uses
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.fixture(scope="module", autouse=True)
def little_memory():
    """Let an array of thousands of millions of numbers fail, and not the machine."""
    try:
        import resource

        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def is_named(error, names) -> bool:
    """Whether the text of an error speaks of one of the names in the house's form."""
    words = [str(error), *getattr(error, "__notes__", ())]
    name = "|".join(map(re.escape, names))
    place = r"(\[[^\]]*\]|\.\w+)*"  # x[3], p.weight
    after = r":|(, \w+)+:| has\b| says\b| gives\b|( and [\w.]+)? (have|give)\b| \(shape| of shape| \d+ x \d+"
    return any(re.search(rf"((?<![\w.])({name}){place}({after})|every array of ({name})\b)", text) for text in words)


def not_finite(result) -> bool:
    """Whether NaN or an infinity shows somewhere in a result."""
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (float, np.floating, np.ndarray)):
        return np.asarray(result).dtype.kind == "f" and not np.isfinite(result).all()
    if dataclasses.is_dataclass(result):
        return not_finite(list(vars(result).values()))
    return isinstance(result, (list, tuple)) and any(map(not_finite, result))


def outcome(place, argument, value) -> tuple[str, object]:
    """Call a function with one wrong value, and say what came of it."""
    run, arguments = CALLS[place]
    given = {name: copy.deepcopy(a.good) for name, a in arguments.items() if name != argument}
    try:
        with limited(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = run(**given, **{argument: value})
            if isinstance(result, types.GeneratorType):
                result = list(result)
    except TooLong:
        return "takes too long", None
    except (ValueError, TypeError) as error:
        if isinstance(error, (np.exceptions.AxisError, UnicodeError)) or type(error).__module__.startswith("numpy"):
            return "an error of NumPy's own", error
        if is_named(error, (argument, *arguments[argument].names)):
            return "an error that names it", error
        return "an error that does not name it", error
    except Exception as error:
        return type(error).__name__, error
    return "a result", result


def fault(place, argument, key) -> str | None:
    """Make one call; return what is wrong with its outcome."""
    a = CALLS[place][1][argument]
    what, result = outcome(place, argument, copy_of(a.values()[key]))
    if key in a.accepted:
        if what == "a result":
            shown = a.accepted[key] is not SHOWN or not_finite(result) or key.endswith(LARGE)
            return None if shown else "what is not finite does not show in the result"
        if a.accepted[key] in (SHOWN, SOME) and isinstance(result, ValueError) and "finite" in str(result):
            return None
    if key in a.raising:
        expected, reason = a.raising[key]
        return (
            None if isinstance(result, expected) else f"expected {expected.__name__} ({reason}), got {what}: {result!r}"
        )
    return None if what == "an error that names it" else f"got {what}: {result!r}"


def copy_of(value):
    try:
        return copy.deepcopy(value)
    except TypeError:  # a generator
        return value


# ---------------------------------------------------------------- the tests


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepare()


def prepare():
    """Put into the folder that we are in what some calls read."""
    pathlib.Path("pairs.tsv").write_text("a\tb\n")


@pytest.mark.parametrize("place", CALLS)
def test_a_right_call_succeeds(place):
    run, arguments = CALLS[place]
    run(**{name: copy.deepcopy(a.good) for name, a in arguments.items()})


@pytest.mark.parametrize(("place", "argument"), [(p, a) for p, (_, arguments) in CALLS.items() for a in arguments])
def test_a_wrong_value_is_refused_by_an_error_that_names_the_argument(place, argument):
    keys = CALLS[place][1][argument].values()
    faults = {key: wrong for key in keys if (wrong := fault(place, argument, key))}
    assert not faults, "\n".join(f"{place}({argument} = {key}): {wrong[:300]}" for key, wrong in faults.items())


NOT_SWEPT = {  # public, and why not here
    "generate.State.take": "a protocol: what others write",
    "byhand.Step.lines": "its arguments are for its own use",
    "byhand.Step.html": "its arguments are for its own use",
    "byhand.Entry.chain": "Working shows it",
    "byhand.Operand.lit": "its arguments are for its own use",
}
EXPRESSIONS = "Cos Difference Exp Larger Num Power Prod Quotient Root Row Sin Sum"  # byhand builds them itself
RECORDS = (  # plain records of what others made; who takes one, checks it
    "Linear LayerNorm LayerNormTrace CrossEntropyTrace AttentionTrace MultiHead MultiHeadTrace FeedForward "
    "EncoderLayer DecoderLayer Transformer FeedForwardTrace SublayerTrace EncoderLayerTrace DecoderLayerTrace "
    "StackTrace Trace "
    "DecodeState State Hypothesis Record Mismatch Batch Noun Adjective Determiner Verb Phrase Example Entry Step "
    "Working Operand Chain Element"
)


def public_functions():
    """Yield every public function below `toytf` by its place, with the names of its arguments."""
    for module in MODULES.split():
        home = importlib.import_module(f"toytf.{module}")
        for name in getattr(home, "__all__", vars(home)):
            thing = getattr(home, name)
            if name.startswith("_") or not getattr(thing, "__module__", "").startswith(f"toytf.{module}"):
                continue
            if inspect.isfunction(thing):
                yield f"{module}.{name}", thing
            elif inspect.isclass(thing) and name not in EXPRESSIONS.split():
                if name not in RECORDS.split():
                    yield f"{module}.{name}", thing
                for method, of in vars(thing).items():
                    if not method.startswith("_") and isinstance(of, (types.FunctionType, classmethod)):
                        yield f"{module}.{name}.{method}", getattr(thing, method)


def arguments_of(of) -> set[str]:
    parameters = inspect.signature(of).parameters.values()
    return {p.name for p in parameters if p.kind is not p.VAR_KEYWORD and p.name != "self"}


def test_every_public_function_is_called_with_every_argument_wrong():
    missing = {}
    for place, of in public_functions():
        wanted = set() if place in NOT_SWEPT else arguments_of(of)
        if place == "grammar.Phrase.pair":
            wanted = arguments_of(grammar.Phrase)
        if wanted - set(CALLS.get(place, (None, {}))[1]):
            missing[place] = wanted
    assert not missing


def test_the_sweep_is_as_large_as_ever():
    calls = sum(len(a.values()) for _, arguments in CALLS.values() for a in arguments.values())
    accepted = sum(len(a.accepted) for _, arguments in CALLS.values() for a in arguments.values())
    assert len(CALLS) >= 147 and calls >= 24_000
    assert accepted <= 0.075 * calls  # what may be accepted stays the exception


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no clock that interrupts")
def test_a_call_that_does_not_end_is_stopped(monkeypatch):
    def forever(x):
        while True:
            pass

    monkeypatch.setitem(CALLS, "ops.relu", (forever, CALLS["ops.relu"][1]))
    monkeypatch.setattr(f"{__name__}.SECONDS", 0.05)
    assert fault("ops.relu", "x", "a string") == "got takes too long: None"
