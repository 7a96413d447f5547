"""Parameters and sizes as the engine in the browser reads them: JSON, or base64 of float64 where there are many."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Callable, Sequence

import numpy as np

from toytf.corpus import Pair, Vocabulary
from toytf.translator import Translator
from toytf.tree import named_arrays
from toytf.writer import Writer


def as_json(thing) -> str:
    """Return numbers, arrays, dataclasses and what holds them as JSON that may stand in a page.

    Every float64 keeps all its digits. Infinity and NaN have no place in JSON: they raise an error.

    Examples
    --------
    >>> as_json({"x": np.array([[0.1, 2.0]])})
    '{"x":[[0.1,2.0]]}'
    """
    text = json.dumps(plain(thing), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("</", "<\\/")  # or it would end the element that it stands in


def plain(thing, array: Callable = np.ndarray.tolist):
    """Return a thing made of dicts, lists, strings and numbers alone; `array` says what becomes of an array.

    Examples
    --------
    >>> from toytf.ops import Linear
    >>> plain(Linear(np.ones((1, 2))))
    {'weight': [[1.0, 1.0]], 'bias': None}
    """
    if isinstance(thing, np.ndarray):
        return array(thing)
    if isinstance(thing, np.generic):
        return thing.item()
    if dataclasses.is_dataclass(thing):
        return {name: plain(part, array) for name, part in vars(thing).items()}
    if isinstance(thing, dict):
        return {name: plain(part, array) for name, part in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [plain(part, array) for part in thing]
    return thing


def many(numbers, dtype: str = "<f8") -> str:
    """Return many numbers as base64 of their bytes: first the lowest byte of each number, last the highest of each.

    Bytes that are alike stand together so, and a server that compresses sends a tenth less of trained weights.

    Examples
    --------
    >>> many([1.0, 1.0])
    'AAAAAAAAAAAAAAAA8PA/Pw=='
    """
    size = np.size(numbers)
    in_places = np.asarray(numbers, dtype).reshape(size, 1).view(np.uint8)
    return base64.b64encode(in_places.T.tobytes()).decode("ascii")


def translator(translator: Translator) -> dict:
    """Return a translator: the shape of each array in the array's place, and all numbers in their order.

    Examples
    --------
    >>> sorted(translator(Translator.load()))
    ['cfg', 'numbers', 'shapes', 'src_vocab', 'tgt_vocab']
    """
    vocabularies = {"src_vocab": list(translator.src_vocab), "tgt_vocab": list(translator.tgt_vocab)}
    return {**_model(translator), **vocabularies}


def writer(writer: Writer) -> dict:
    """Return a writer as `translator` does; its weights, rounded to float16, take two bytes each.

    Examples
    --------
    >>> sorted(writer(Writer.new(np.random.default_rng(0))))
    ['cfg', 'numbers', 'shapes', 'vocab']
    """
    return {**_model(writer, "<f2"), "vocab": list(writer.vocab)}


FIRST = 46  # the character of id 0; a hundred ids from there on are printed as one letter each


def pairs(pairs: Sequence[Pair], src_vocab: Vocabulary, tgt_vocab: Vocabulary) -> str:
    """Return sentence pairs as words of one letter for each id, source and target in turn.

    Examples
    --------
    >>> from toytf.corpus import vocabularies
    >>> one = [Pair(("hello", "world"), ("hola", "mundo"))]
    >>> pairs(one * 2, *vocabularies(one))
    '12 12 12 12'
    """
    sides = ((vocab.ids(side) for vocab, side in ((src_vocab, p.src), (tgt_vocab, p.tgt))) for p in pairs)
    return " ".join("".join(chr(FIRST + i) for i in ids) for both in sides for ids in both)


def generator(rng: np.random.Generator) -> dict:
    """Return the state of a generator of random numbers, its 128 bits as text.

    Examples
    --------
    >>> sorted(generator(np.random.default_rng(0)))
    ['has_uint32', 'inc', 'state', 'uinteger']
    """
    kept = rng.bit_generator.state
    large = {name: str(kept["state"][name]) for name in ("state", "inc")}
    return {**large, "has_uint32": kept["has_uint32"], "uinteger": kept["uinteger"]}


def _model(model: Translator | Writer, dtype: str = "<f8") -> dict:
    numbers = np.concatenate([a.ravel() for a in named_arrays(model.params).values()])
    shapes = plain(model.params, lambda a: list(a.shape))
    return {"cfg": plain(model.cfg), "shapes": shapes, "numbers": many(numbers, dtype)}
