"""The published numbers: each computed again, each verdict earned, each planted mistake seen."""

import copy
import importlib
import re
from collections import Counter
from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from myst_parser.mdit_to_docutils.base import default_slugify

from bookcheck import links, reading
from replays import published
from replays.__main__ import main
from replays.published import (
    CORRECTED,
    ENTRIES,
    FAILED,
    LEDGER,
    REMARKS,
    REPRODUCED,
    STATUSES,
    UNSEEDED,
    Claim,
    Recomputation,
    agrees,
)
from toytf.course.chapters import chapters

ROOT = Path(__file__).parents[2]


def with_entry(name, **changes):
    return replace(LEDGER, entries={**ENTRIES, name: replace(ENTRIES[name], **changes)})


def with_function(name, function, **more):
    return replace(LEDGER, functions={**LEDGER.functions, name: Recomputation(function, **more)})


# ---------------------------------------------------------------------------------------
# The data


def test_the_data_are_complete():
    assert len(ENTRIES) == 248
    assert len(REMARKS) == 174
    assert Counter(e.source for e in ENTRIES.values()) == {0: 151, 1: 60, 2: 16, 3: 12, 4: 9}
    assert Counter(int(name[1]) for name in REMARKS) == {0: 67, 1: 42, 2: 14, 3: 29, 4: 22}
    assert sum(e.unseeded for e in ENTRIES.values()) == 15


def test_every_entry_is_well_formed():
    sections = []
    for name, entry in ENTRIES.items():
        assert name.startswith(f"s{entry.source}-")
        assert re.fullmatch(r"0[1-9]|1\d|20", entry.chapter), name
        assert entry.what and entry.section, name
        assert set(entry.corrected_by) | set(entry.see) <= set(REMARKS), name
        assert not set(entry.corrected_by) & set(entry.see), name
        assert entry.through is None or (entry.printed is None and ENTRIES[entry.through].is_number), name
        assert entry.words.dtype == object, name  # rows of equal length
        if entry.decimals is not None:
            assert entry.is_number, name
        if not sections or sections[-1] != (entry.source, entry.section):
            sections.append((entry.source, entry.section))
    assert [source for source, _ in sections] == sorted(source for source, _ in sections)


def test_titles_can_be_headings():
    for name, said in REMARKS.items():
        assert 2 <= len(said.title.split()) <= 8, name
        assert not re.search(r"[`*_$<>\[\]{}|#]", said.title), name
        assert re.fullmatch(r"0[1-9]|1\d|20", said.chapter), name
    assert len({said.title for said in REMARKS.values()}) == len(REMARKS)


# ---------------------------------------------------------------------------------------
# The book's own numbers


@pytest.mark.parametrize("name", ENTRIES)
def test_every_entry_has_its_verdict(name):
    result = LEDGER.result(name)
    entry = result.entry
    assert result.status in STATUSES, result.failure
    assert (result.status == CORRECTED) == bool(entry.corrected_by)
    assert (result.status == UNSEEDED) == entry.unseeded


def test_right_values():
    def right(name):
        return LEDGER.result(name).right

    assert np.allclose(right("s0-pe-1-1"), np.cos(1))
    assert np.allclose(right("s0-pe-world"), [np.sin(1), np.cos(1), np.sin(0.01), np.cos(0.01)])
    assert np.allclose(right("s0-k1-hand-expansion")[1], [6.84, 9.99, 6.84])
    assert np.allclose(published.value("s0-k1-hand-expansion")[1], [6.84, 10.0, 6.84])
    assert np.allclose(right("s0-softmax2-with-math-wk2")[:, 0], [1.10613872e-14, 4.95934510e-20], atol=0, rtol=1e-8)
    assert np.allclose(
        published.value("s0-softmax2-with-math-wk2")[:, 0], [3.50985897e-14, 9.63330634e-20], atol=0, rtol=1e-8
    )
    assert right("s1-layer-five") == 6
    assert right("s0-norm-1") == pytest.approx(1.71888, abs=5e-6)
    assert right("s3-beam-k") == 2 and right("s4-ffn-steps") == 3
    intended = [[0.08427129, 1.60292327, -0.85408598, -0.83310859]]
    assert np.allclose(right("s0-dec-cross-attention-ln"), intended, atol=5.1e-9, rtol=0)
    assert not LEDGER.result("s0-dec-cross-attention-ln").matches.any()


def test_no_value_is_the_printed_digits_themselves():
    """A number with many digits that comes out exactly as printed was typed, not computed."""
    looked_up = {"s0-gen-encoder-input"}  # two rows of a table that is printed
    for result in LEDGER.results():
        if result.matches is None or result.given or result.status != REPRODUCED or result.entry.id in looked_up:
            continue
        long = [len(word.split("e")[0].strip("-0.")) >= 9 for word in result.entry.words.ravel()]
        if any(long):
            exact = np.ravel(published.printed(result.entry.id)) == result.computed.ravel()
            assert not exact[np.array(long)].all(), result.entry.id


# ---------------------------------------------------------------------------------------
# Planted mistakes


@pytest.mark.parametrize(
    "name", [r.entry.id for r in LEDGER.results() if r.status == REPRODUCED and r.matches is not None]
)
def test_a_changed_digit_fails(name):
    """In every number that reproduces, its last printed digit is changed by one."""
    entry = ENTRIES[name]
    assert LEDGER.result(name).status == REPRODUCED
    for where in np.ndindex(entry.words.shape):
        words = copy.deepcopy(entry.words)
        value = float(LEDGER.result(name).computed[where])
        words[where] = moved(words[where], away_from=value)
        result = with_entry(name, printed=words.tolist()).result(name)
        assert result.status == FAILED, words
        assert "no remark says so" in result.failure
        assert words[where] in result.failure
        if len(entry.words.ravel()) > 4:  # one entry of a large array is enough
            break


def moved(word, away_from):
    """The word with its last digit one further away from a number."""
    digits, e, power = word.partition("e")
    unit = Decimal(1).scaleb(Decimal(digits).as_tuple().exponent)
    step = unit if Decimal(word) >= Decimal(away_from) else -unit
    return f"{Decimal(digits) + step}{e}{power}"


def test_a_correction_without_its_remark_fails():
    for result in LEDGER.results():
        if result.status == CORRECTED:
            assert with_entry(result.entry.id, corrected_by=()).result(result.entry.id).status == FAILED


def test_a_remark_that_is_gone_fails():
    remarks = {name: said for name, said in LEDGER.remarks.items() if name != "E0-25"}
    result = replace(LEDGER, remarks=remarks).result("s0-z-math")
    assert result.status == FAILED and "no such remark" in result.failure


def test_a_stale_remark_fails():
    for name in ("s0-k1", "s3-variance", "s1-wmt", "s0-layer-norm", "s4-mask-shape", "s0-argmax"):
        result = with_entry(name, corrected_by=("E0-10",)).result(name)
        assert result.status == FAILED and "E0-10 calls it wrong" in result.failure


def test_a_number_that_nothing_recomputes_fails():
    functions = {name: f for name, f in LEDGER.functions.items() if name != "s0-k1"}
    result = replace(LEDGER, functions=functions).result("s0-k1")
    assert result.status == FAILED and result.failure == "nothing recomputes it"


def test_a_wrong_shape_fails():
    result = with_function("s0-k1", lambda: np.zeros((3, 2))).result("s0-k1")
    assert result.status == FAILED and "expected the shape 2 x 3, got 3 x 2" in result.failure
    result = with_function("s0-q1-dot-k1", lambda: np.array([68.0])).result("s0-q1-dot-k1")
    assert result.status == FAILED and "expected the shape a single number, got 1" in result.failure


def test_a_broken_function_fails_and_hides_nothing():
    def broken():
        raise ZeroDivisionError("division by zero")

    broken_ledger = with_function("s0-k1", broken)
    assert broken_ledger.result("s0-k1").failure == "ZeroDivisionError: division by zero"
    assert [r.entry.id for r in broken_ledger.results() if r.status == FAILED] == ["s0-k1"]


def test_a_wrong_value_that_is_not_printed_fails():
    for name in ("s0-k2", "s0-v2", "s0-q2", "s0-weights1-div30", "s0-weights2-div30"):
        good = LEDGER.functions[name]
        slightly_off = good.function() * (1 + 1e-7)
        result = with_function(name, lambda off=slightly_off: off, via=good.via).result(name)
        assert result.status == FAILED and "does not follow from it" in result.failure
    result = with_function("s0-k2", LEDGER.functions["s0-k2"].function).result("s0-k2")
    assert result.status == FAILED and "nothing printed follows from it" in result.failure


def test_a_check_that_does_not_hold_fails():
    for name in ("s2-qkv-shapes", "s1-pe-halves", "s1-scale", "s0-ffn-formula", "s2-out-shape"):
        result = with_function(name, lambda: Claim(False, "something else")).result(name)
        assert result.status == FAILED and "something else" in result.failure
    for name in ("s4-softmax", "s4-mask", "s1-kv-source", "s0-encoder-formula", "s2-sigma-formula"):
        result = with_function(name, lambda: Claim(False, "nothing", instead=False)).result(name)
        assert result.status == FAILED and "so is what should be right: nothing" in result.failure
    result = with_function("s1-wmt", lambda: "WMT 2015").result("s1-wmt")
    assert result.status == FAILED and "WMT 2015" in result.failure


# What nobody can compute again: each check of a structure sees a changed array

DRAWN = [name for name, entry in ENTRIES.items() if entry.unseeded]


def planted_in_print(monkeypatch, name, words):
    monkeypatch.setitem(ENTRIES, name, replace(ENTRIES[name], printed=words))
    return replace(LEDGER).result(name)


def structure_fails(monkeypatch, name, words):
    result = planted_in_print(monkeypatch, name, words)
    assert result.status == FAILED, (words, result.computed)
    assert result.failure.startswith("its structure: ")


ARRAYS = [name for name in DRAWN if isinstance(ENTRIES[name].printed, list)]


def changed_arrays(words):
    """The printed words with one thing wrong, several times."""
    yield "a column short", words[:, :-1]
    yield "a row more", np.vstack([words, words[:1]])
    yield "a hundred times larger", np.vectorize(lambda word: f"{float(word) * 100:.8f}")(words)
    yield "all zero", np.full_like(words, "0.")
    missing = words.copy()
    missing[0, 0] = "1.0" if words[0, 0] == "nan" else "nan"
    yield "one number lost", missing


NO_MISTAKE = {
    ("s0-encoder-nan", "a hundred times larger"),  # NaN stays NaN
    ("s0-dec-ffn-output", "all zero"),  # the sub-layer may well give the negative of its input
}


@pytest.mark.parametrize("name", ARRAYS)
def test_a_drawn_array_that_is_wrong_fails(name, monkeypatch):
    assert planted_in_print(monkeypatch, name, ENTRIES[name].printed).status == UNSEEDED
    words = ENTRIES[name].words
    for what, changed in changed_arrays(words):
        if (name, what) in NO_MISTAKE:
            continue
        structure_fails(monkeypatch, name, changed.tolist())


@pytest.mark.parametrize("name", ["s0-ffn-output", "s0-random-encoder-block"])
def test_two_rows_that_lie_too_far_apart_fail(name, monkeypatch):
    words = ENTRIES[name].words.copy()
    words[1] = [word.removeprefix("-") if word[0] == "-" else f"-{word}" for word in words[1]]
    structure_fails(monkeypatch, name, words.tolist())


@pytest.mark.parametrize("name", ["s0-encoder6-norm", "s0-gen-encoder-output", "s0-decoder6"])
def test_a_row_that_is_not_normalised_fails(name, monkeypatch):
    words = ENTRIES[name].words.copy()
    words[0, 0] = f"{float(words[0, 0]) + 1e-4:.8f}"
    structure_fails(monkeypatch, name, words.tolist())


@pytest.mark.parametrize("name", ["s0-encoder6-norm", "s0-gen-encoder-output"])
def test_two_normalised_rows_that_differ_fail(name, monkeypatch):
    words = ENTRIES[name].words.copy()
    words[1] = words[1][::-1]
    structure_fails(monkeypatch, name, words.tolist())


def test_a_row_that_is_normalised_after_all_fails(monkeypatch):
    """The feed-forward row is printed before its layer norm; E0-54 is about that."""
    structure_fails(monkeypatch, "s0-dec-ffn-output", [["0.37023769", "1.45787460", "-0.73167804", "-1.09643426"]])


def test_logits_without_a_negative_number_fail(monkeypatch):
    words = [[word.removeprefix("-") for word in ENTRIES["s0-logits"].printed[0]]]
    structure_fails(monkeypatch, "s0-logits", words)


@pytest.mark.parametrize("step", range(3))
def test_a_largest_probability_below_a_tenth_fails(step, monkeypatch):
    for word in ("0.09", "1.01", "nan"):
        structure_fails(monkeypatch, f"s0-gen-iter-{step}", word)


@pytest.mark.parametrize("text", ["SOS how a d", "SOS how a EOS", "SOS how a", "how a c", "SOS how a c c"])
def test_a_text_that_the_printed_run_cannot_give_fails(text, monkeypatch):
    structure_fails(monkeypatch, "s0-gen-output", text)


# Every check can fail: what it rests on is changed


@pytest.mark.parametrize(
    ("name", "module", "attribute", "wrong"),
    [
        ("s0-ffn-formula", "source0_encoder", "written_out", lambda p, x: x @ p.w_1 @ p.w_2),
        ("s0-relu", "source0_encoder", "relu", abs),
        ("s0-layernorm-formula", "source0_encoder", "layer_norm", lambda p, x, eps: (p.gamma * x + p.beta, None)),
        ("s0-encoder-formula", "source0_encoder", "layer_norm", lambda p, x, eps: (x, None)),
        ("s2-ffn-no-bias", "source2", "relu", abs),
        ("s2-sigma-formula", "source2", "layer_norm", lambda p, x: (x, None)),
        ("s2-out-shape", "source2", "softmax", lambda x: x),
        ("s4-mask", "source4", "causal_mask", lambda n: np.triu(np.ones((n, n), dtype=bool))),
        ("s4-ln-formula", "source4", "layer_norm", lambda p, x: (x, None)),
        ("s3-residual-derivative", "source3", "slope", lambda d, residual: 1.0),
        ("s1-kv-source", "source1", "merge_heads", lambda x: np.zeros((10, 8))),
    ],
)
def test_a_check_sees_what_it_is_about(name, module, attribute, wrong, monkeypatch):
    monkeypatch.setattr(importlib.import_module(f"replays.recompute.{module}"), attribute, wrong)
    assert replace(LEDGER).result(name).status == FAILED


# ---------------------------------------------------------------------------------------
# The three statuses


# ---------------------------------------------------------------------------------------
# The rule of agreement

NUMBERS = st.floats(min_value=-1e6, max_value=1e6, allow_subnormal=False)


@given(NUMBERS, st.integers(0, 8))
def test_a_rounded_number_agrees(number, places):
    assert agrees(f"{number:.{places}f}", number)
    half_even = Decimal(number).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_EVEN)
    assert agrees(str(half_even), number)


@given(NUMBERS, st.integers(0, 8))
def test_a_last_digit_that_is_off_by_one_does_not(number, places):
    assert not agrees(moved(f"{number:.{places}f}", away_from=number), number)


@given(st.integers(-(10**6), 10**6), st.integers(0, 6))
def test_a_tie_agrees_with_both_neighbours(thousands, places):
    low, high = (Decimal(thousands + k).scaleb(-places) for k in (0, 1))
    middle = float((low + high) / 2)
    assert agrees([f"{low:f}", f"{high:f}"], [middle, middle]).all()


@pytest.mark.parametrize(
    ("word", "number", "decimals", "expected"),
    [
        ("4.", 4.0, None, True),
        ("4.", 4.49, None, True),
        ("4.", 4.49, 8, False),
        ("1.00000000e+00", 0.9999999995, None, True),
        ("1.00000000e+00", 0.99999999, None, False),
        ("-1e10", -1e10, None, True),
        ("nan", float("nan"), None, True),
        ("nan", 1.0, None, False),
        ("1", float("nan"), None, False),
        ("1", float("inf"), None, False),
    ],
)
def test_single_words(word, number, decimals, expected):
    assert agrees(word, number, decimals) == expected


# ---------------------------------------------------------------------------------------
# value, printed, table


def test_every_table_can_be_shown():
    assert len(published.table(*ENTRIES).results) == len(ENTRIES)
    table = published.Table(tuple(LEDGER.results()))
    text, html = repr(table), table._repr_html_()
    for entry in ENTRIES.values():
        assert entry.what in text
        assert f"<code>{entry.id}</code>" in html
    for word in ("4.67695573e-10", "-17.04387833", "-17.04387829"):
        assert word in text and word.replace("-", "−") in html
    assert not table.is_narrow
    for tag in ("tr", "td", "th", "tbody", "span", "small"):
        assert html.count(f"<{tag}>") + html.count(f"<{tag} ") == html.count(f"</{tag}>")
    assert html.count("<tbody>") == len(ENTRIES)


def test_a_table_marks_what_differs():
    html = published.table("s0-k1-hand-expansion")._repr_html_()
    assert html.count("<strong>✗ 10.00</strong>") == html.count("✗") == 1
    assert '<span class="differs">corrected</span>' in html
    assert "E0-12: a 4 where 3.99 is meant" in html
    good = published.table("s0-k1")._repr_html_()
    assert "✗" not in good and '<span class="ok">reproduced</span>' in good


def test_a_tie_is_shown_with_the_digit_that_makes_it_one():
    text = repr(published.Table((LEDGER.result("s0-mu2-hand"), LEDGER.result("s0-norm-1-numerator"))))
    assert "-3.595591085" in text and "17.052318495" in text
    text = repr(published.table("s0-softmax-123"))
    assert "0.090031" in text  # not a tie: six places, as always


def test_what_cannot_be_recomputed_is_checked():
    table = published.Table((LEDGER.result("s0-ffn-output"),))
    assert "cannot be recomputed" in repr(table) and "see E0-65: fifteen outputs without a seed" in repr(table)
    assert "    checked   2 × 4, rows" in repr(table) and "computed  2" not in repr(table)
    assert '<th scope="row">checked</th>' in table._repr_html_() and '<span class="open">' in table._repr_html_()


def test_markup_in_the_data_is_escaped():
    entry = replace(ENTRIES["s0-k1"], what="a < b & c")
    html = published.Table((replace(LEDGER.result("s0-k1"), entry=entry),))._repr_html_()
    assert "a &lt; b &amp; c" in html


# ---------------------------------------------------------------------------------------
# The page


def test_links_lead_to_remarks_in_the_replay_of_their_source():
    for name in REMARKS:
        link = published.remark_link(name, folder="../book/", text=name)
        page = published.REPLAYS[int(name[1])]
        assert link == f"[{name}](../book/{page}.ipynb#{default_slugify(published.remark_heading(name))})"


@pytest.mark.parametrize("source", range(5))
def test_the_page_has_a_row_for_every_entry(source):
    markdown = published.as_markdown(source)
    rows = [line for line in markdown.splitlines() if line.startswith("| ") and not line.startswith("| what | ")]
    entries = [entry for entry in ENTRIES.values() if entry.source == source]
    assert len(rows) == len(entries)
    for row, entry in zip(rows, entries, strict=True):
        assert row.count(" | ") == 2 and entry.what in row
        assert "](../notebooks/" in row
        if LEDGER.result(entry.id).status == CORRECTED:
            assert f"[{entry.corrected_by[0]}: " in row and "→" in row


def home_problems(entries):
    """Homes that are no heading of the chapter's notebook."""
    slugs = {
        chapter: links.heading_slugs(reading.page_markdown(ROOT / "notebooks" / f"{name}.ipynb"))
        for chapter, name in chapters().items()
    }
    return [e.id for e in entries if e.home is not None and e.home not in slugs.get(e.chapter, ())]


def test_every_home_is_a_heading_of_its_chapter():
    assert home_problems(ENTRIES.values()) == []
    assert [e.id for e in ENTRIES.values() if e.home is None] == []


@pytest.mark.parametrize(
    "changes", [{"home": "the-keys"}, {"home": ""}, {"chapter": "06"}, {"chapter": "20"}], ids=lambda c: str(c)
)
def test_a_home_that_is_no_heading_is_caught(changes):
    assert home_problems([replace(ENTRIES["s0-k1"], **changes)]) == ["s0-k1"]


# ---------------------------------------------------------------------------------------
# The command


def test_the_command_prints_a_line_for_each_entry_and_each_remark(capsys):
    assert main() == 0
    numbers, remarks = (part.splitlines() for part in capsys.readouterr().out.split("\n\n"))
    assert [line.split()[0] for line in numbers[:-1]] == list(ENTRIES)
    assert [line.split()[0] for line in remarks[:-1]] == list(REMARKS)
    assert max(map(len, numbers + remarks[:-1])) <= 110


def test_the_command_fails_where_a_digit_is_changed(capsys):
    assert main(0, with_entry("s0-k1", printed=[["4.", "8.", "5."], ["6.84", "9.99", "6.84"]])) == 1
    out, err = capsys.readouterr()
    assert err.startswith("FAILED s0-k1: disagrees") and err.endswith("printed 5., computed 4 at [0, 2]\n")
    assert "1 FAILED" in out
