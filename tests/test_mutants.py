"""What `tests/mutants.py` promises, as far as it goes without mutmut."""

import pytest

import mutants
from mutants import Mutant, difference, read_judged, sample, verdict

SURVIVOR = Mutant("toytf.ops.x_relu__mutmut_1", "ops.relu", 3, ("- return x > 0", "+ return x >= 0"))
OTHERS = [Mutant(f"toytf.ops.x_f__mutmut_{i}", "ops.f", i, (f"- {i}", f"+ {i + 1}")) for i in range(20)]
JUDGED = """
# At 0 the two agree.
ops.relu
- return x > 0
+ return x >= 0
"""


def test_the_list_of_survivors_can_be_read_and_gives_every_one_a_reason():
    judged = read_judged(mutants.JUDGED.read_text("utf-8"))
    assert all(len(reason) > 20 for reason in judged.values())
    assert all(function.split(".")[0] in mutants.MODULES for function, _ in judged)


def test_a_reason_holds_for_all_mutants_of_its_paragraph():
    text = "# Two lines\n# of reason.\nops.f\n- 1\n+ 2\nops.f\n- 3\n+ 4\n\n# Another one.\nops.g\n- 1\n+ 2\n"
    assert read_judged(text) == {
        ("ops.f", ("- 1", "+ 2")): "Two lines of reason.",
        ("ops.f", ("- 3", "+ 4")): "Two lines of reason.",
        ("ops.g", ("- 1", "+ 2")): "Another one.",
    }
    assert read_judged("# Only what the file is.\n") == read_judged("") == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ops.f\n- 1\n+ 2\n", "paragraph 1: expected a reason"),
        (f"{JUDGED}\n\nops.f\n- 1\n+ 2\n", "paragraph 2: expected a reason"),
        ("# Why.\nops.f\n", "expected a function and what changes in it, got 'ops.f'"),
        ("# Why.\n- 1\n+ 2\n", "expected a function and what changes in it, got '- 1'"),
        (JUDGED + "\n" + JUDGED, "expected each mutant once, got ops.relu"),
    ],
)
def test_a_survivor_without_reason_or_change_or_listed_twice_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        read_judged(text)


def test_a_survivor_that_nobody_judged_is_bad_and_a_known_one_is_not():
    both = [SURVIVOR, OTHERS[0]]
    caught = {OTHERS[0].name: "killed"}
    for fate in ("survived", "no tests"):
        said, bad = verdict(both, {SURVIVOR.name: fate, **caught}, {})
        assert bad == 1
        assert said[0].startswith("toytf/ops.py:3\nops.relu\n- return x > 0\n+ return x >= 0\n")
        assert said[-1].startswith("1 of 2 mutants noticed (50.0 %)")
        said, bad = verdict(both, {SURVIVOR.name: fate, **caught}, read_judged(JUDGED))
        assert bad == 0 and "known: At 0 the two agree." in said[0]
        assert said[-1].startswith("1 of 2 mutants noticed (50.0 %)")  # a known survivor is still a survivor


@pytest.mark.parametrize("fate", ["killed", "timeout", "segfault"])
def test_a_mutant_that_hangs_or_crashes_is_noticed(fate):
    assert verdict([SURVIVOR], {SURVIVOR.name: fate}, {}) == (
        ["1 of 1 mutants noticed (100.0 %); of the others 0 are known, 0 new, 0 without a result"],
        0,
    )


@pytest.mark.parametrize("fate", [None, "suspicious", "check was interrupted by user", "not checked"])
def test_a_mutant_without_a_clear_result_is_not_counted_as_noticed(fate):
    found = {SURVIVOR.name: fate} if fate else {}
    said, bad = verdict([SURVIVOR], found, read_judged(JUDGED))
    assert bad == 1 and said[-1].startswith("0 of 1")


def test_the_sample_is_the_same_each_time_and_keeps_its_mutants_when_another_function_changes():
    drawn = sample(OTHERS, 7, 0)
    assert drawn == sample(list(OTHERS), 7, 0) and len(drawn) == 7
    assert drawn == sorted(drawn, key=OTHERS.index)
    assert drawn != sample(OTHERS, 7, 1)
    one_more = sample([SURVIVOR, *OTHERS], 7, 0)
    assert len(set(one_more) & set(drawn)) >= 6
    moved = [Mutant(one.name, one.function, one.line + 5, one.change) for one in OTHERS]
    assert [one.change for one in sample(moved, 7, 0)] == [one.change for one in drawn]


def test_the_difference_is_where_the_code_changes_and_without_indentation():
    before = ["def f(x):", "    if x:", "        return 1", "    return 2"]
    after = ["def f(x):", "    if not x:", "        return 1", "    return 2"]
    assert difference(before, after) == (1, ("- if x:", "+ if not x:"))


@pytest.mark.parametrize("wrong", ["0", "-1", "some", "1.5", ""])
def test_a_number_of_mutants_that_cannot_be_is_refused(wrong, capsys):
    with pytest.raises(SystemExit):
        mutants.main([wrong] if not wrong.startswith("-") else ["--", wrong])
    assert "expected a number or all" in capsys.readouterr().err
