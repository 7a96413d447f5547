"""The command ``toytf translate``: sentences through a trained translator."""

from __future__ import annotations

import argparse

from toytf.translator import TRAINED, Translator

EXAMPLES = (
    'toytf translate "hello world"',
    'toytf translate "the small cats see a red house" --width 4',
    'toytf translate "a small red house" --model german.npz',
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Translate sentences."
    parser.add_argument("sentence", nargs="+", help='for example "hello world"')
    parser.add_argument("--model", default=TRAINED, metavar="FILE", help="default: the one that comes with toytf")
    parser.add_argument(
        "--width", "--beam", type=int, default=1, help="keep so many partial translations (default 1: greedy)"
    )


def run(options) -> int:
    translator = Translator.load(options.model)
    try:
        translations = translator.translate(options.sentence, options.width)
    except KeyError as unknown:
        raise ValueError(unknown.args[0]) from None
    for sentence, translation in zip(options.sentence, translations, strict=True):
        print(f"{sentence} -> {translation}")
    return 0
