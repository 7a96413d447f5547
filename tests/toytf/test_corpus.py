"""What `toytf.corpus` promises of files and of splits."""

import numpy as np
import pytest

from toytf.corpus import Pair, read_pairs, split


def pair(src, tgt):
    return Pair(tuple(src.split()), tuple(tgt.split()))


def test_pairs_are_read_from_a_file_of_any_system(tmp_path):
    text = "# a comment\r\n\r\nthe red house\tla casa roja\r\n hello  world \thola mundo\r\nhello world\thola mundo"
    path = tmp_path / "pairs.tsv"
    for data in (text.encode(), b"\xef\xbb\xbf" + text.replace("\r\n", "\n").encode()):
        path.write_bytes(data)
        assert read_pairs(path) == [pair("the red house", "la casa roja"), pair("hello world", "hola mundo")]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"no tab", "line 2: expected text, a tab and text, got 'no tab'"),
        (b"a\tb\tc", "line 2: expected text, a tab and text"),
        (b"right\t ", "line 2: expected text, a tab and text"),
        (b"ni\xf1o\tboy", "expected UTF-8"),
        (b"<eos>\tfin", "line 2: expected words, got '<eos>'"),
    ],
)
def test_a_bad_line_is_named_by_its_number(line, says, tmp_path):
    (tmp_path / "pairs.tsv").write_bytes(b"good\tbueno\n" + line)
    with pytest.raises(ValueError, match=rf"pairs.tsv: {says}"):
        read_pairs(tmp_path / "pairs.tsv")


def test_a_split_holds_out_the_share_that_was_asked_for():
    pairs = [Pair((f"w{i}",), (f"v{i}",)) for i in range(100)]
    train, held_out = split(pairs, np.random.default_rng(0), held_out=0.3)
    assert (len(train), len(held_out)) == (70, 30)
