"""Source 0, from the decoder's output to words."""

from __future__ import annotations

import functools

import numpy as np

from replays.ledger import ENTRIES, Claim, printed
from replays.recompute.common import size
from replays.recompute.register import given, recomputes
from replays.recompute.source0_encoder import DRAWS, is_usual, two_alike
from toytf.corpus import Vocabulary
from toytf.generate import greedy
from toytf.ops import Array, Linear, embedding, linear, softmax

VOCABULARY = Vocabulary(["hello", "mundo", "world", "how", "?", "EOS", "SOS", "a", "hola", "c"])
LAST_ROW = np.array([[1.0, 0.0, 1.0, 0.0]])  # the decoder's output, as the source assumes it
MAX_STEPS = 10


@recomputes("s0-decoding-iterations")
def three_iterations():
    """A table says which word follows which; greedy decoding follows it."""
    follows = {"SOS": "hola", "hola": "mundo", "mundo": "EOS"}

    def step(state, last):
        logits = np.zeros((1, len(VOCABULARY)))
        (word,) = VOCABULARY.tokens(last)
        logits[0, VOCABULARY.id(follows[word])] = 10.0
        return logits, state

    sos, eos = VOCABULARY.ids(["SOS", "EOS"])
    (sentence,) = greedy(step, None, sos=sos, eos=eos, max_length=MAX_STEPS)
    return f"{len(sentence.ids)} steps: {', '.join(VOCABULARY.tokens(sentence.ids))}"


# -- the linear layer

given("s0-vocab-10000", value=10_000)
given("s0-linear-input", value=LAST_ROW)


@recomputes("s0-linear-shapes")
def shape_of_the_logits():
    d_model, vocabulary = LAST_ROW.shape[1], len(VOCABULARY)
    return linear(Linear(np.zeros((d_model, vocabulary)), np.zeros(vocabulary)), LAST_ROW).shape


@recomputes("s0-logits")
def logits():
    rows = printed("s0-logits")
    rng = np.random.default_rng(0)
    draws = LAST_ROW @ rng.standard_normal((DRAWS, 4, 10)) + rng.standard_normal((DRAWS, 1, 10))
    holds = rows.shape == draws.shape[1:] and is_usual((rows**2).sum(), (draws**2).sum(axis=(1, 2)))
    holds = bool(holds and rows.min() < 0)
    return Claim(holds, f"{size(rows)}; {int((rows < 0).sum())} are negative, so no probabilities")


# -- probabilities


@recomputes("s0-probs")
def probabilities():
    return softmax(printed("s0-logits"))


def probability(word: str) -> float:
    return probabilities()[0, VOCABULARY.id(word)]


for _place, _word in enumerate(VOCABULARY):
    _name = {"?": "qmark"}.get(_word, _word.lower())
    recomputes(f"s0-prob-{_place}-{_name}")(functools.partial(probability, _word))


@recomputes("s0-argmax")
def most_probable_word():
    return VOCABULARY.tokens([int(probabilities()[0].argmax())])[0]


given("s0-vocab", value=" ".join(VOCABULARY))

# -- the generating function


@recomputes("s0-vocab-embeddings")
def embeddings_of_ten_words():
    table = printed("s0-vocab-embeddings")
    draws = np.random.default_rng(0).standard_normal((DRAWS, len(VOCABULARY), 4))
    holds = table.shape == draws.shape[1:] and is_usual(table.std(), draws.std(axis=(1, 2)))
    holds = bool(holds and is_usual(table.mean(), draws.mean(axis=(1, 2))))
    return Claim(holds, f"{size(table)}, mean {table.mean():.2f}, deviation {table.std():.2f}: like standard normal")


given("s0-max-iters-default", value=MAX_STEPS)


@recomputes("s0-gen-encoder-input")
def rows_of_hello_world() -> Array:
    return embedding(printed("s0-vocab-embeddings"), VOCABULARY.ids(["hello", "world"]))


@recomputes("s0-gen-encoder-output")
def encoder_output_of_hello_world():
    return two_alike(printed("s0-gen-encoder-output"))


def generated_words() -> list[str]:
    return ENTRIES["s0-gen-output"].printed.split()


def generated(step: int) -> Claim:
    """The largest of ten probabilities is at least a tenth, and its word must be one of the ten."""
    p, word = printed(f"s0-gen-iter-{step}"), generated_words()[step + 1]
    holds = 1 / len(VOCABULARY) <= p <= 1 and word in VOCABULARY
    return Claim(holds, f"largest of {len(VOCABULARY)}, so at least {1 / len(VOCABULARY):.1f}; {word!r} is a word")


for _step in range(3):
    recomputes(f"s0-gen-iter-{_step}")(functools.partial(generated, _step))


@recomputes("s0-gen-output")
def generated_text():
    start, *words = generated_words()
    traced = [name for name in ENTRIES if name.startswith("s0-gen-iter-")]
    holds = start == "SOS" and len(words) == len(traced) and all(word in VOCABULARY for word in words)
    holds = holds and "EOS" not in words and len(words) < MAX_STEPS
    return Claim(holds, f"{len(words)} words, no EOS: stopped before the limit of {MAX_STEPS}")


# -- the questions at the end

given("s0-exercise-count", value=8)
