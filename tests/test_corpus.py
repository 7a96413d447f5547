"""What `toytf.corpus` promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toytf.corpus import Vocabulary, pad

sentences = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=8), min_size=1, max_size=5)


@given(st.lists(st.text(min_size=1), min_size=1, unique=True))
def test_ids_and_tokens_undo_each_other(tokens):
    vocabulary = Vocabulary(tokens)
    assert vocabulary.ids(tokens) == list(range(len(tokens))) == list(range(len(vocabulary)))
    assert vocabulary.tokens(vocabulary.ids(tokens)) == tokens == list(vocabulary)


@pytest.mark.parametrize(
    ("tokens", "error", "message"),
    [
        ([], ValueError, "at least one token"),
        (["a", "b", "a"], ValueError, "distinct tokens, got 'a' at 0 and 2"),
        (["a", ""], ValueError, "got '' at 1"),
        (["a", 3], TypeError, "got 3 at 1"),
        ("abc", TypeError, "got the single string 'abc'"),
    ],
)
def test_a_vocabulary_refuses_what_is_no_list_of_distinct_words(tokens, error, message):
    with pytest.raises(error, match=message):
        Vocabulary(tokens)


def test_an_unknown_token_is_named():
    vocabulary = Vocabulary(["Hello", "World"])
    with pytest.raises(KeyError, match=r"unknown token 'hello': the vocabulary has 2 tokens \(Hello, World\)"):
        vocabulary.ids(["hello"])
    with pytest.raises(TypeError, match="cut it into tokens first"):
        vocabulary.ids("Hello World")
    with pytest.raises(ValueError, match="ids: expected 0 to 1, got -1 at 1"):
        vocabulary.tokens([0, -1])
    assert "World" in vocabulary and "world" not in vocabulary


@given(sentences, st.integers(1, 10))
def test_padding_keeps_every_token_that_fits_and_marks_the_rest(batch, length):
    ids, is_token = pad(batch, length, pad_id=99)
    assert ids.shape == is_token.shape == (len(batch), length)
    for row, flags, sentence in zip(ids, is_token, batch, strict=True):
        assert row[flags].tolist() == sentence[:length]
        assert (row[~flags] == 99).all()


def test_padding_refuses_an_empty_sentence_an_empty_batch_and_no_length():
    with pytest.raises(ValueError, match="got none in sentence 1"):
        pad([[1], []], 3, 0)
    with pytest.raises(ValueError, match="at least one sentence"):
        pad([], 3, 0)
    with pytest.raises(ValueError, match="length: expected at least 1, got 0"):
        pad([[1]], 0, 0)


def test_no_argument_is_modified():
    batch = [[1, 2], [3]]
    ids, _ = pad(batch, 2, 0)
    ids[0, 0] = 7
    assert batch == [[1, 2], [3]]
    assert np.issubdtype(ids.dtype, np.integer)
