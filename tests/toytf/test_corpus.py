"""What `toytf.corpus` promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toytf.corpus import (
    Pair,
    Vocabulary,
    _that_share_a_sentence,
    batches,
    pad,
    read_pairs,
    split,
    to_batch,
    vocabularies,
)

sentences = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=8), min_size=1, max_size=5)


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


def test_padding_refuses_an_empty_sentence_an_empty_batch_and_no_length():
    with pytest.raises(ValueError, match="and a token in each, got none"):
        pad([[1], []], 3, 0)
    with pytest.raises(ValueError, match="at least one sentence"):
        pad([], 3, 0)
    with pytest.raises(ValueError, match="length: expected at least 1, got 0"):
        pad([[1]], 0, 0)


# ---------------------------------------------------------------- sentence pairs


def pair(src, tgt):
    return Pair(tuple(src.split()), tuple(tgt.split()))


def write(tmp_path, data):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def test_pairs_are_read_from_a_file_of_any_system(tmp_path):
    text = "# a comment\r\n\r\nthe red house\tla casa roja\r\n hello  world \thola mundo\r\nhello world\thola mundo"
    expected = [pair("the red house", "la casa roja"), pair("hello world", "hola mundo")]
    assert read_pairs(write(tmp_path, text)) == expected
    assert read_pairs(write(tmp_path, b"\xef\xbb\xbf" + text.replace("\r\n", "\n").encode())) == expected


def test_every_bad_line_is_named_by_its_number(tmp_path):
    lines = [b"good\tbueno", b"no tab", b"a\tb\tc", b"\tnothing left", b"right\t ", b"ni\xf1o\tboy", b"<eos>\tfin"]
    with pytest.raises(ValueError) as caught:
        read_pairs(write(tmp_path, b"\n".join(lines)))
    assert str(caught.value).splitlines()[1:] == [
        "  line 2: expected two columns with a tab between them, got 1",
        "  line 3: expected two columns with a tab between them, got 3",
        "  line 4: expected text in both columns, got none in column 1",
        "  line 5: expected text in both columns, got none in column 2",
        "  line 6: expected UTF-8, got the byte 0xf1 at 2",
        "  line 7: expected words, got '<eos>', which has a meaning of its own",
    ]
    with pytest.raises(ValueError, match="and 90 more"):
        read_pairs(write(tmp_path, "bad\n" * 100))
    with pytest.raises(ValueError, match="at least one sentence pair, got none"):
        read_pairs(write(tmp_path, "# nothing\n"))


words = st.sampled_from("abcd")


def test_a_split_holds_out_the_share_that_was_asked_for():
    pairs = [Pair((f"w{i}",), (f"v{i}",)) for i in range(100)]
    train, held_out = split(pairs, np.random.default_rng(0), held_out=0.3)
    assert (len(train), len(held_out)) == (70, 30)
    with pytest.raises(ValueError, match="held_out: expected between 0 and 1, got 1.5"):
        split(pairs, np.random.default_rng(0), held_out=1.5)
    with pytest.raises(TypeError, match=r"rng: expected np.random.default_rng\(seed\), got int"):
        split(pairs, 0)
    with pytest.raises(ValueError, match="two parts that share no sentence, got 2 to learn from and 0 to test with"):
        split([pair("a", "b"), pair("a", "c")], np.random.default_rng(0), held_out=0.5)


def groups_pair_by_pair(pairs):
    """The same groups as `split` makes, each list made anew for each pair that joins it."""
    groups = []
    for p in pairs:
        joined = [p]
        for side in ("src", "tgt"):
            for group in groups:
                if any(getattr(member, side) == getattr(p, side) for member in group if member is not p):
                    groups.remove(group)
                    joined = group + joined
                    break
        groups.append(joined)
    return groups


@given(st.lists(st.tuples(words, words), min_size=1, max_size=14))
def test_groups_are_those_that_are_found_pair_by_pair_in_the_same_order(drawn):
    pairs = [Pair((a,), (b,), (number,)) for number, (a, b) in enumerate(drawn)]
    assert _that_share_a_sentence(pairs) == groups_pair_by_pair(pairs)


# ---------------------------------------------------------------- batches

PAIRS = [pair("hello world", "hola mundo"), pair("the red house", "la casa roja"), pair("hello", "hola")]


def test_a_batch_that_is_larger_than_the_data_is_put_together_once(monkeypatch):
    def counted(parts):
        copied.append(sum(map(len, parts)))
        return concatenate(parts)

    copied, concatenate = [], np.concatenate
    data = to_batch(PAIRS, *vocabularies(PAIRS))
    monkeypatch.setattr(np, "concatenate", counted)
    assert len(next(batches(data, 3000, np.random.default_rng(0)))) == 3000  # each pair 1000 times
    assert sum(copied) < 2 * 3000
