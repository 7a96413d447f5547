"""Wrong calls: every public function, every argument, a long list of values that it cannot use.

Each call has one wrong argument, the others are right. It raises `ValueError` or `TypeError`, and the
text names the argument. What may happen instead is listed beside the argument, with the reason; an
entry of such a list that is not needed is a fault as well.
"""

import copy
import dataclasses
import importlib
import inspect
import itertools
import math
import pathlib
import re
import signal
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import pytest

from toytf import attention, byhand, corpus, decode, gradcheck, grammar, model, ops, optim, positions, size, train
from toytf import translator as translators
from toytf.attention import MultiHead
from toytf.corpus import Pair, Vocabulary
from toytf.model import Config, DecoderLayer, EncoderLayer, FeedForward, Transformer
from toytf.ops import LayerNorm, Linear

MODULES = "ops positions attention model decode optim train gradcheck corpus grammar translator size example byhand"
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
    "numbers near the end of the range": lambda a: a * 1e308,
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

SHOWN = "looking through it would cost as much as the formula; what is not finite shows in the result"


@dataclass(frozen=True)
class Argument:
    """A right value, values that are wrong, and those of `ANYWHERE` that are right after all."""

    good: object
    bad: dict = field(default_factory=dict)
    fine: dict = field(default_factory=dict)  # name of a bad value: why it is accepted here
    other: dict = field(default_factory=dict)  # name of a bad value: (another exception, why)
    names: tuple = ()  # other names under which the text may speak of it

    def but(self, reason, *values, names=()):
        """The same argument, where some values are right."""
        return dataclasses.replace(
            self, fine=self.fine | dict.fromkeys(values, reason), names=(*self.names, *names)
        )

    def raising(self, error, reason, *values):
        return dataclasses.replace(self, other=self.other | dict.fromkeys(values, (error, reason)))

    def values(self):
        """Every wrong value by its name."""
        return ANYWHERE | self.bad


def _made(good, recipes):
    a = np.asarray(good)
    return {name: recipe(a) for name, recipe in recipes.items() if a.ndim}


def floats(good, **how):
    return Argument(good, _made(good, FLOATS), **how)


def ids(good, **how):
    return Argument(good, _made(good, IDS), **how)


def flags(good, **how):
    return Argument(good, _made(good, FLAGS), **how)


def whole(good, **how):
    return Argument(good, {"a whole float": 3.0, "an integer of eight bits below zero": np.int8(-3)}, **how)


def real(good, **how):
    return Argument(good, {"an array of no axis as string": np.array("a")}, **how)


def switch(good=True, **how):
    return Argument(good, {"the word no": "no", "one": 1}, **how).but("it is one", "True")


def choice(good, **how):
    return Argument(good, {"an unknown name": "tanh", "capital letters": good.upper()}, **how)


def thing(good, **how):
    return Argument(good, **how)


def function(good, **how):
    bad = {
        "a function that gives nothing": lambda *a, **k: None,
        "a function that gives a string": lambda *a, **k: "abc",
        "a function that gives NaN": lambda *a, **k: math.nan,
        "a function that gives two strings": lambda *a, **k: ("abc", "abc"),
    }
    return Argument(good, bad, **how)


def parameters(good, **how):
    """A dataclass of arrays: each of its fields wrong, one after the other."""
    bad = {}
    for f in dataclasses.fields(good):
        value = getattr(good, f.name)
        wrong = {"a string": "abc", "None": None, "a number": 1.0, "a list": [[1.0, 2.0]], "something else's": NORM}
        if isinstance(value, np.ndarray):
            wrong |= {key: recipe(value) for key, recipe in FLOATS.items()}
        for key, part in wrong.items():
            bad[f"{f.name}: {key}"] = dataclasses.replace(good, **{f.name: part})
    return Argument(good, bad, names=tuple(f.name for f in dataclasses.fields(good)), **how)


# ---------------------------------------------------------------- right values

RNG = np.random.default_rng(0)
CFG = Config(7, 8, d_model=4, n_heads=2, d_head=3, d_ff=5, n_encoder_layers=1, n_decoder_layers=1)
PARAMS = model.init(CFG, RNG)
GRADS = model.init(CFG, RNG)
SRC, TGT = np.array([[1, 2, 3], [4, 5, 6]]), np.array([[1, 2], [3, 4]])
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
STATE = decode.start(PARAMS, CFG, SRC)
ONE_STATE = decode.start(PARAMS, CFG, SRC[0])
STEP = decode.stepper(PARAMS, CFG)
WORKING = byhand.matmul([[1, 2]], [[1], [2]], "s", rows=["q"], cols=["k"])


def loss_of(params, batch):
    return 1.0, copy.deepcopy(GRADS)


# ---------------------------------------------------------------- kinds that many functions share

NOT_FINITE = ("NaN inside", "infinity inside", "numbers near the end of the range")
ANY_ROWS = ("one of its rows", "one axis more", "one row more")
ANY_SHAPE = (*ANY_ROWS, "one column more")
FRACTIONS = ("a half", "two and a half")
COUNTS = ("ten thousand million", "more than any integer of NumPy", "more than any float")
NUMBERS = ("minus one", "minus a half", "zero", *FRACTIONS, *COUNTS[:2])
OPTIONAL = "it may be left out"
LABEL = "whatever can be written is a label"


def rows(good, **how):
    """Rows of any number, with any leading axes, of one width."""
    return floats(good, **how).but("any leading axes", *ANY_ROWS)


def anything(good, **how):
    """Numbers of any shape."""
    return floats(good, **how).but("any shape", *ANY_SHAPE)


def single(good, **how):
    """Numbers of any shape, a single one too, and what is not finite stays where it stands."""
    return (
        anything(good, **how)
        .but("a single number is one too", *NUMBERS[:-1], "an array of one number")
        .but(SHOWN, *NOT_FINITE, "NaN", "infinity", "minus infinity")
    )


def gradient(good, **how):
    """Numbers of exactly this shape; what is not finite flows on."""
    return floats(good, **how).but(SHOWN, *NOT_FINITE)


def of_class(good, **how):
    return Argument(good, **how)


def optional(argument, *more):
    return argument.but(OPTIONAL, "None", *more)


def may_lack(argument, *fields):
    """Parameters of which some fields may be None."""
    return argument.but(OPTIONAL, *(f"{f}: None" for f in fields))


def weights(good, *optional_fields):
    """Parameters: their numbers are not looked through."""
    bad = [key for key in parameters(good).bad if key.endswith(NOT_FINITE)]
    return may_lack(parameters(good), *optional_fields).but(SHOWN, *bad)


CALLS: dict[str, tuple[Callable, dict[str, Argument]]] = {}


def call(place, run=None, **arguments):
    """Enter a function by its place below `toytf`; `run` is what is called, where that is more than the function."""
    *path, last = place.split(".")
    owner = importlib.import_module(f"toytf.{path[0]}")
    for part in path[1:]:
        owner = getattr(owner, part)
    CALLS[place] = (run or getattr(owner, last), arguments)

@@TABLE@@
