"""The published numbers: each computed again, each verdict earned, each planted mistake seen."""

import copy
import importlib
import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from myst_parser.mdit_to_docutils.base import default_slugify

from bookcheck import links, reading
from toytf import _command
from toytf.course import chapters as contents
from toytf.course import published
from toytf.course.chapters import chapters
from toytf.course.published import (
    CORRECTED,
    ENTRIES,
    FAILED,
    LEDGER,
    REMARKS,
    REPRODUCED,
    STATUSES,
    UNSEEDED,
    Claim,
    Entry,
    Recomputation,
    Remark,
    agrees,
    cli,
)
from toytf.course.published.cli import NUMBERS, _shortened
from toytf.course.published.recompute.register import recomputes
from toytf.course.published.show import _home_link

ROOT = Path(__file__).parent.parent


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


def test_load_refuses_an_id_that_occurs_twice():
    row = {"id": "s0-a", "source": 0, "section": "1", "what": "a", "printed": "1", "chapter": "01"}
    assert published.load(json.dumps([row]))[0]["s0-a"].corrected_by == ()
    with pytest.raises(ValueError, match="s0-a: expected every id once, got it twice"):
        published.load(json.dumps([row, row]))


# ---------------------------------------------------------------------------------------
# The book's own numbers


@pytest.mark.parametrize("name", ENTRIES)
def test_every_entry_has_its_verdict(name):
    result = LEDGER.result(name)
    entry = result.entry
    assert result.status in STATUSES, result.failure
    assert (result.status == CORRECTED) == bool(entry.corrected_by)
    assert (result.status == UNSEEDED) == entry.unseeded


def test_source_0_is_reproduced_or_corrected_up_to_z():
    names = list(ENTRIES)
    up_to_z = names[: names.index("s0-z-math") + 1]
    assert {ENTRIES[name].source for name in up_to_z} == {0}
    assert {LEDGER.result(name).status for name in up_to_z} == {REPRODUCED, CORRECTED}


def test_fifteen_were_drawn_without_a_seed():
    assert sum(r.status == UNSEEDED for r in LEDGER.results()) == 15


def test_the_known_corrections():
    corrected = {r.entry.id: r.entry.corrected_by for r in LEDGER.results() if r.status == CORRECTED}
    assert corrected == {
        "s0-pe-1-1": ("E0-02", "E0-03"),
        "s0-pe-world": ("E0-02", "E0-03"),
        "s0-pe-world-vs-paper": ("E0-02",),
        "s0-wq1-math": ("E0-10",),
        "s0-wk2-math": ("E0-11",),
        "s0-k1-hand-expansion": ("E0-12",),
        "s0-q1-with-math-wq1": ("E0-10",),
        "s0-softmax2-with-math-wk2": ("E0-11",),
        "s0-z-math": ("E0-25",),
        "s0-encoder-formula": ("E0-33",),
        "s0-norm-1": ("E0-37",),
        "s0-dec-cross-attention-ln": ("E0-53", "E0-52"),
        "s1-layer-five": ("E1-04",),
        "s1-divisibility-text": ("E1-09",),
        "s1-bytetensor-mask": ("E1-13",),
        "s1-embed-dim-299": ("E1-15",),
        "s1-comment-words": ("E1-20",),
        "s1-comment-5-60": ("E1-21",),
        "s1-context-10-words": ("E1-22",),
        "s1-kv-source": ("E1-33",),
        "s2-split-then-project": ("E2-04",),
        "s2-sigma-formula": ("E2-01",),
        "s3-residual-derivative": ("E3-14",),
        "s3-beam-k": ("E3-28",),
        "s4-softmax": ("E4-08",),
        "s4-ffn-steps": ("E4-13",),
        "s4-mask": ("E4-01",),
        "s4-pe-unique": ("E4-16",),
    }


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


def test_the_divisor_is_found_from_the_printed_output():
    assert published.value("s0-scale-30") == pytest.approx(30, abs=1e-5)
    assert published.value("s0-scale-30") != 30.0  # it is computed


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


def test_a_decimals_field_that_is_too_small_fails():
    assert "expected at least 2" in with_entry("s0-k1", decimals=1).result("s0-k1").failure


def test_trailing_zeros_that_numpy_leaves_out_are_compared():
    """NumPy's 6.84 stands for 6.84000000: a difference in the eighth decimal is a difference."""
    off = LEDGER.functions["s0-k1"].function() + 1e-8
    assert with_function("s0-k1", lambda: off).result("s0-k1").status == FAILED


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
    monkeypatch.setattr(importlib.import_module(f"toytf.course.published.recompute.{module}"), attribute, wrong)
    assert replace(LEDGER).result(name).status == FAILED


# ---------------------------------------------------------------------------------------
# The three statuses

TINY = {
    "a": Entry("a", 0, "1", "reproduced", ["0.33", "0.67"], "01"),
    "b": Entry("b", 0, "1", "corrected", "0.34", "01", corrected_by=("E",)),
    "c": Entry("c", 0, "1", "random", ["0.1234"], "01", unseeded=True),
}
TINY_FUNCTIONS = {
    "a": Recomputation(lambda: [1 / 3, 2 / 3]),
    "b": Recomputation(lambda: 1 / 3),
    "c": Recomputation(lambda: Claim(True, "one number")),
}


def tiny(**changes):
    fields = {
        "entries": TINY,
        "remarks": {"E": Remark("a wrong third", "01", "section 1", "error", "author", "0.34", "", "A third.")},
        "functions": TINY_FUNCTIONS,
        "rights": {},
    }
    return published.Ledger(**{**fields, **changes})


def test_each_status():
    assert [r.status for r in tiny().results()] == [REPRODUCED, CORRECTED, UNSEEDED]
    assert published.counts(tiny().results()) == dict.fromkeys(STATUSES, 1)


def test_a_structural_check_that_fails():
    functions = {**TINY_FUNCTIONS, "c": Recomputation(lambda: Claim(False, "two numbers"))}
    assert tiny(functions=functions).result("c").failure == "its structure: two numbers"
    functions["c"] = Recomputation(lambda: [0.1234])
    assert "expected a check of its structure" in tiny(functions=functions).result("c").failure


def test_counts_show_failures_only_if_there_are_any():
    counted = published.counts(tiny(functions={}).results())
    assert counted == {REPRODUCED: 0, CORRECTED: 0, UNSEEDED: 0, FAILED: 3}


# ---------------------------------------------------------------------------------------
# The rule of agreement

numbers = st.floats(min_value=-1e6, max_value=1e6, allow_subnormal=False)


@given(numbers, st.integers(0, 8))
def test_a_rounded_number_agrees(number, places):
    assert agrees(f"{number:.{places}f}", number)
    half_even = Decimal(number).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_EVEN)
    assert agrees(str(half_even), number)


@given(numbers, st.integers(0, 8))
def test_a_last_digit_that_is_off_by_one_does_not(number, places):
    assert not agrees(moved(f"{number:.{places}f}", away_from=number), number)


@given(numbers.filter(lambda x: abs(x) > 1e-300), st.integers(-200, 200), st.integers(0, 8))
def test_scientific_notation(number, power, places):
    number *= 10.0**power
    word = f"{number:.{places}e}"
    assert agrees(word, number)
    assert not agrees(moved(word, away_from=number), number)
    assert agrees(word, number, decimals=99)  # decimals is about fixed notation alone


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


def test_value_and_printed():
    assert published.value("s0-q1-dot-k1") == 68.0 and isinstance(published.value("s0-q1-dot-k1"), float)
    assert published.printed("s0-dk-paper") == 64.0
    assert published.printed("s0-softmax1")[0, 0] == 4.67695573e-10
    assert published.value("s4-pe-formula").holds
    value = published.value("s0-emb-hello")
    value[0] = 99
    assert published.value("s0-emb-hello")[0] == 1.0  # a copy


def test_errors_name_what_was_expected(monkeypatch):
    with pytest.raises(KeyError, match="unknown id 's0-k': did you mean s0-k"):
        published.table("s0-k")
    with pytest.raises(KeyError, match="see ENTRIES"):
        published.value("nothing like it")
    functions = {name: f for name, f in LEDGER.functions.items() if name != "s1-mha-defaults"}
    monkeypatch.setattr("toytf.course.published.recompute.LEDGER", replace(LEDGER, functions=functions))
    with pytest.raises(ValueError, match="s1-mha-defaults: nothing recomputes it"):
        published.value("s1-mha-defaults")
    with pytest.raises(ValueError, match="s0-pe-formula: expected a number"):
        published.printed("s0-pe-formula")
    with pytest.raises(ValueError, match="s0-k2: expected a number, got 'not printed'"):
        published.printed("s0-k2")
    with pytest.raises(ValueError, match="expected at least one id"):
        published.table()
    with pytest.raises(KeyError, match="unknown remark 'E0-99'"):
        published.remark_heading("E0-99")
    for table in (published.as_markdown, published.remarks_as_markdown):
        with pytest.raises(ValueError, match="source: expected 0 to 4, got 5"):
            table(5)


def test_a_function_is_registered_once_and_for_a_known_id():
    with pytest.raises(KeyError, match="did you mean s0-k1"):
        recomputes("s0-k1-x")(lambda: 1)
    with pytest.raises(KeyError, match="s0-k1: expected one function"):
        recomputes("s0-k1")(lambda: 1)


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


def test_short_numbers_stand_side_by_side():
    table = published.table("s0-dk-toy", "s0-pe-1-1")
    assert table.is_narrow
    assert repr(table).splitlines()[0].split() == ["what", "printed", "computed", "verdict"]
    html = table._repr_html_()
    assert html.count("<tr>") == 3 and html.count('<th scope="col">') == 4
    assert "<strong>✗ 0.99995</strong>" in html and "right: " in html


def test_a_table_marks_what_differs():
    html = published.table("s0-k1-hand-expansion")._repr_html_()
    assert html.count("<strong>✗ 10.00</strong>") == html.count("✗") == 1
    assert '<span class="differs">corrected</span>' in html
    assert "E0-12: a 4 where 3.99 is meant" in html
    good = published.table("s0-k1")._repr_html_()
    assert "✗" not in good and '<span class="ok">reproduced</span>' in good


def test_digits_are_shown_to_the_places_that_are_compared():
    text = repr(published.table("s0-z", "s0-softmax1", "s0-wk1-code"))
    assert "-17.49263670" in text  # printed as -17.4926367
    assert "1.11377182e-12" in text
    assert "1 0 1" in text  # integers stay integers


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


def test_a_row_leads_to_the_section_that_computes_it():
    row = next(row for row in published.as_markdown(0).splitlines() if row.startswith("| [K₁, by NumPy]("))
    assert "[chapter\N{NO-BREAK SPACE}4](../notebooks/04_self_attention.ipynb#the-keys-entry-by-entry)" in row
    assert f"[K₁, by NumPy](replay_random_transformer.ipynb#{ENTRIES['s0-k1'].step})" in row
    without_home = replace(ENTRIES["s0-k1"], home=None)
    assert _home_link(without_home) == "[chapter\N{NO-BREAK SPACE}4](../notebooks/04_self_attention.ipynb)"


def test_without_the_book_a_row_names_the_chapter_and_leads_nowhere(monkeypatch, tmp_path):
    monkeypatch.setattr(contents, "BOOK", tmp_path)
    chapters.cache_clear()
    try:
        assert _home_link(ENTRIES["s0-k1"]) == "chapter\N{NO-BREAK SPACE}4"
    finally:
        chapters.cache_clear()


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


def command(words, ledger=LEDGER):
    return cli.run(_command.parser("published", cli).parse_args(words), ledger)


def numbers(out):
    """The lines about numbers: what stands before the remarks."""
    return out.split("\n\n")[0].splitlines()


def test_the_command_prints_a_line_for_each_and_the_counts(capsys):
    assert command([]) == 0
    out, err = capsys.readouterr()
    *lines, last = numbers(out)
    assert err == ""
    assert [line.split()[0] for line in lines] == list(ENTRIES)
    found = Counter(next(status for status in STATUSES if f"  {status}" in line) for line in lines)
    assert last == "248 published: " + ", ".join(f"{found[status]} {status}" for status in STATUSES)
    assert max(map(len, lines)) <= 110
    for line in lines:
        if f"  {CORRECTED}  " in line:
            assert ", ".join(ENTRIES[line.split()[0]].corrected_by) + ": " in line


def test_the_command_prints_a_line_for_each_remark_and_counts_the_kinds(capsys):
    assert command([]) == 0
    *lines, last = capsys.readouterr().out.split("\n\n")[1].splitlines()
    assert [line.split()[:2] for line in lines] == [[name, said.kind] for name, said in REMARKS.items()]
    assert all(said.title in line for line, said in zip(lines, REMARKS.values(), strict=True))
    found = Counter(said.kind for said in REMARKS.values())
    assert last == "174 remarks: " + ", ".join(f"{found[kind]} {kind}" for kind in published.KINDS)
    assert max(map(len, lines)) <= 110


@pytest.mark.parametrize("arguments", [["--source", "3"], ["--chapter", "6"]])
def test_the_command_chooses_remarks_too(capsys, arguments):
    assert command([*arguments, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    options = _command.parser("published", cli).parse_args(arguments)
    chosen = {
        name: said.kind
        for name, said in REMARKS.items()
        if options.source in (None, int(name[1])) and options.chapter in (None, said.chapter)
    }
    assert {row["id"]: row["kind"] for row in data["remarks"]} == chosen
    assert data["kinds"] == Counter(chosen.values())
    assert command(arguments) == 0
    assert [line[:5] for line in capsys.readouterr().out.split("\n\n")[1].splitlines()[:-1]] == list(chosen)


def test_a_statement_takes_the_room_of_the_remark_that_is_not_there(capsys):
    assert command(["--source", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.endswith("  2 × 10 for N1 = 2 and d_voc = 10; rows sum to 1") for line in lines)


def test_the_first_difference_is_never_hidden(capsys):
    assert command(["--only", "corrected"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()[:-1]}
    for name, words in {
        "s0-pe-world": ("0.99", "0.540302"),
        "s0-k1-hand-expansion": ("9.99", "10.00"),
        "s0-q1-with-math-wq1": ("3.", "8.00 8.00"),
        "s0-z-math": ("11.46394281", "11.46394285"),
        "s0-wq1-math": ("1 0", "0 0"),
    }.items():
        for word in words:
            assert word in lines[name]


@given(st.lists(st.text("0123456789.", min_size=1, max_size=9), min_size=1, max_size=12), st.data())
@settings(max_examples=50)
def test_shortened_words_fit_and_keep_the_one_that_matters(words, data):
    start = data.draw(st.integers(0, len(words) - 1))
    text = _shortened(np.array(words, dtype=object), start)
    assert words[start] in text.split()
    assert len(text) <= NUMBERS


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (["--source", "3"], 12),
        (["--chapter", "6"], sum(e.chapter == "06" for e in ENTRIES.values())),
        (["--source", "0", "--chapter", "05"], sum(e.chapter == "05" and e.source == 0 for e in ENTRIES.values())),
    ],
)
def test_the_command_chooses(capsys, arguments, count):
    assert command(arguments) == 0
    lines = numbers(capsys.readouterr().out)
    assert len(lines) == count + 1 and lines[-1].startswith(f"{count} published: ")


@pytest.mark.parametrize("status", STATUSES)
def test_the_command_shows_one_verdict(capsys, status):
    assert command(["--only", status.replace(" ", "-")]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert all(status in line for line in lines)
    assert f"{len(lines)} {status}" in last


def test_the_command_writes_json(capsys):
    assert command(["--json", "--source", "0"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert sum(data["counts"].values()) == len(data["results"]) == 151
    world = next(r for r in data["results"] if r["id"] == "s0-pe-world")
    assert world["printed"] == ["0.84", "0.99", "0", "1"] and world["status"] == CORRECTED
    assert world["right"][1] == pytest.approx(np.cos(1)) and world["matches"] == [True, False, True, True]


def test_json_can_hold_every_result(capsys):
    assert command(["--json"], LEDGER) == 0
    data = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in data["results"]] == list(ENTRIES)
    assert next(row for row in data["results"] if row["id"] == "s1-scale")["computed"]["holds"] is True


def test_the_command_fails_loudly(capsys):
    planted = with_entry("s0-k1", printed=[["4.", "8.", "5."], ["6.84", "9.99", "6.84"]])
    assert command(["--only", "corrected", "--chapter", "4"], planted) == 1
    out, err = capsys.readouterr()
    assert err.startswith("FAILED s0-k1: disagrees with what is printed, and no remark says so: ")
    assert err.endswith("printed 5., computed 4 at [0, 2]\n")
    assert numbers(out)[-1].endswith("1 FAILED")
    assert any(line.startswith("s0-k1 ") and "FAILED" in line for line in out.splitlines())


AFTER = str(cli.LAST_CHAPTER + 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--source", "5"], "expected a source from 0 to 4, got '5'"),
        (["--chapter", AFTER], f"expected a chapter from 01 to {cli.LAST_CHAPTER}, got '{AFTER}'"),
        (["--chapter", "six"], f"expected a chapter from 01 to {cli.LAST_CHAPTER}, got 'six'"),
        (["--only", "wrong"], "expected one of 'reproduced', 'corrected', 'cannot be recomputed', got 'wrong'"),
        (["--all"], "unrecognized arguments: --all"),
    ],
)
def test_wrong_arguments(capsys, arguments, message):
    with pytest.raises(SystemExit) as exit_status:
        command(arguments)
    assert exit_status.value.code == 2
    assert message in capsys.readouterr().err


def python(*arguments, **options):
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", **options)


def run(*arguments):
    return python("-m", "toytf", "published", *arguments)


def test_as_a_command_of_the_system():
    done = run("--source", "4")
    assert done.returncode == 0 and done.stderr == ""
    assert numbers(done.stdout)[-1].startswith("9 published: ")
    assert run("--source", "x").returncode == 2
    assert "Exit status" in " ".join(run("--help").stdout.split())


def test_a_planted_mistake_ends_the_command_with_1():
    """The whole way: a digit changed in the data file, the command run on it."""
    code = (
        "import pathlib, sys\n"
        "text = pathlib.Path('toytf/course/published/published.json').read_text(encoding='utf-8')\n"
        "assert text.count('135.5517') == 2\n"
        "read = pathlib.Path.read_text\n"
        "pathlib.Path.read_text = lambda self, **how: read(self, **how).replace('135.5517', '135.5518')\n"
        "from toytf.__main__ import main\n"
        "sys.exit(main(['published']))\n"
    )
    done = python("-c", code)
    assert done.returncode == 1, done.stderr
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["FAILED s0-scores1-hand", "FAILED s0-scores1"]
    assert numbers(done.stdout)[-1].endswith(", 2 FAILED")


def test_a_plain_terminal_is_no_obstacle():
    done = python("-X", "utf8=0", "-m", "toytf", "published", env={"PYTHONIOENCODING": "ascii", "PATH": ""})
    assert done.returncode == 0, done.stderr
