"""Known mistakes as edits of the right function, and how the chapters' files are found.

Each thing that the reader must refuse is planted.
"""

import ast
import inspect
import re
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import toytf
from toytf import check
from toytf.check import chapters, edits
from toytf.check.answers import ByHand, Part
from toytf.check.core import Case, Check, Mistake, checker
from toytf.course.chapters import chapters as contents

LIMIT = 7


def deviation(x, eps=0.5):
    """The root of the variance: ``np.sqrt(variance + eps)``."""
    away = x - x.mean()
    variance = (away * away).mean()
    return np.sqrt(variance + eps)


X = np.array([1.0, 3.0])  # variance 1


def told(*mistakes) -> Check:
    """A checker of `deviation` that knows some mistakes."""
    one = checker("ex-00-1", expected=deviation, cases=lambda rng: [Case((X,))])(deviation)
    one.knows(*mistakes)
    return one


def edited(text: str):
    """The function that an edit makes."""
    (mistake,) = told(f"- wrong: {text}\n  Mend it.").mistakes
    return mistake.function


# ---------------------------------------------------------------- what an edit makes


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("np.sqrt(variance + eps) => variance + eps", 1.5),
        ("variance + eps => variance", 1.0),
        ("away * away => abs(away) * 3", np.sqrt(3.5)),
        ("eps=0.5 => eps=3.0", 2.0),  # in the signature
        ("x.mean() =>0.0", np.sqrt(5.5)),
        ("variance + eps => LIMIT + 2", 3.0),  # a name of the solution's module
        ("away = => x = x + 1; away =", np.sqrt(1.5)),
        ("- x.mean() =>", np.sqrt(5.5)),  # nothing takes its place
    ],
)
def test_an_edit_makes_the_wrong_function(text, value):
    assert edited(text)(X) == pytest.approx(value)


def test_several_edits_are_each_made_at_their_place_in_the_solution():
    (mistake,) = told(
        """
        - both changed:
            x.mean() => 0.0
            np.sqrt(variance + eps)
            => variance - eps
          Two words of advice,
          on two lines.
        """
    ).mistakes
    assert (mistake.name, mistake.advice) == ("both changed", "Two words of advice, on two lines.")
    assert mistake.function(X) == 4.5


def test_an_edit_finds_its_text_in_the_solution_and_not_in_another_edit():
    (mistake,) = told("- both:\n    x.mean() => 0.0 + eps - eps\n    + eps => - eps\n  No.").mistakes
    assert mistake.function(X) == np.sqrt(4.5)


def test_a_colon_inside_a_name_does_not_end_it():
    (mistake,) = told("- [:, None] forgotten: + eps => - eps\n  Advice: one.").mistakes
    assert (mistake.name, mistake.advice) == ("[:, None] forgotten", "Advice: one.")


def test_edits_and_functions_keep_their_order():
    one = told(
        "- a: + eps => - eps\n  A.", Mistake("b", "B.", abs), "- c: + eps => * eps\n  C.\n- d: + eps => / eps\n  D."
    )
    assert [mistake.name for mistake in one.mistakes] == ["a", "b", "c", "d"]


def test_a_mistake_of_one_s_own_is_added_to_those_that_are_known():
    one = told("- a: + eps => - eps\n  A.")
    one.mistakes = (*one.mistakes, Mistake("b", "B.", lambda x: 9.0))
    assert one.report(lambda x: 9.0).mistake == "b"
    assert one.report(lambda x: np.sqrt(0.5)).mistake == "a"


def test_a_solution_is_shown_without_its_decorator():
    assert check.layer_norm.source.startswith("def layer_norm(x, gamma, beta, eps=1e-5):\n")
    assert "@checker" in inspect.getsource(check.layer_norm.solution)


# ---------------------------------------------------------------- what the reader refuses


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "np.sqrt(variance) => variance",
            "deviation: wrong: expected 'np.sqrt(variance)' once in the solution, got it 0",
        ),
        ("variance => 1.0", "deviation: wrong: expected 'variance' once in the solution, got it 2 times"),
        ("The root => The square", "expected 'The root' once in the solution, got it 0 times"),  # words, no code
        (
            "variance + eps => variance + eps",
            "deviation: wrong: expected edits that change the function, got the solution",
        ),
        ("variance + eps => (variance  +  eps)", "expected edits that change the function, got the solution"),
        ("variance + eps => variance +", "deviation: wrong: expected edits that leave a function, got invalid syntax"),
        ("variance + eps => variance + eps)", "expected edits that leave a function, got unmatched ')'"),
        ("variance + eps", "wrong: expected BEFORE => AFTER, got 'variance + eps'"),
        ("=> eps", "wrong: expected BEFORE => AFTER, got '=> eps'"),
        ("eps => 1 => 2", "wrong: expected BEFORE => AFTER, got 'eps => 1 => 2'"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused_with_checker_mistake_and_text(text, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        edited(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("wrong: a => b", "known mistakes: expected '- ' and a name in the first line, got ['wrong: a => b']"),
        ("", "known mistakes: expected '- ' and a name in the first line, got []"),
        ("- wrong\n  Mend it.", "known mistakes: expected '- NAME: BEFORE => AFTER', got '- wrong'"),
        ("- wrong: a => b", "wrong: expected an advice below the name, two columns in, got none"),
        ("- wrong:\n  Mend it.", "wrong: expected an edit, BEFORE => AFTER, got none"),
        (
            "- wrong: a => b\n   Mend it.",
            "wrong: expected edits four columns in, then an advice two columns in, got '   Mend",
        ),
        ("- wrong:\n  Mend it.\n    a => b", "wrong: expected edits four columns in, then an advice two columns in"),
        ("- wrong:\n    => b\n  Mend it.", "wrong: expected BEFORE => AFTER, got '=> b'"),
    ],
)
def test_a_text_that_is_no_list_of_mistakes_is_refused(text, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        edits.read(text)


def test_two_edits_at_one_place_are_refused():
    with pytest.raises(ValueError, match=r"deviation: wrong: expected edits of different places, got .* at one"):
        told("- wrong:\n    variance + eps => variance\n    + eps => - eps\n  Mend it.").mistakes[0]


def test_two_mistakes_of_one_name_are_refused():
    one = told("- wrong: + eps => - eps\n  A.", Mistake("wrong", "B.", abs))
    with pytest.raises(ValueError, match="deviation: expected a name for each mistake, got 'wrong' twice"):
        len(one.mistakes)


def test_edits_are_read_when_a_mistake_is_needed_and_a_bad_one_is_no_answer_to_a_student():
    one = told("- wrong: nowhere => somewhere\n  Mend it.")
    with pytest.raises(ValueError, match="'nowhere' once in the solution"):
        one.report(abs)


def test_importing_the_checkers_reads_no_edit():
    asks = """
        from toytf.check import edits
        edits.read = edits.function = None
        from toytf import check
        assert len(check.CHECKS) > 60
        try:
            len(check.softmax.mistakes)
        except TypeError:
            print("read now")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(asks)], capture_output=True, text=True, check=False)
    assert done.stdout == "read now\n", done.stderr


def test_edits_are_read_from_an_archive_too(tmp_path):
    package = Path(toytf.__file__).parent
    archive = tmp_path / "toytf.zip"
    with zipfile.ZipFile(archive, "w") as out:
        for path in sorted(package.rglob("*")):
            if path.suffix in {".py", ".json"}:
                out.write(path, path.relative_to(package.parent))
    asks = f"""
        import sys
        sys.path.insert(0, {str(archive)!r})
        from toytf import check
        assert check.__file__.startswith({str(archive)!r}), check.__file__
        print(len(check.CHECKS), sum(len(one.mistakes) for one in check.CHECKS.values()))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(asks)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stdout.split() == [
        str(len(check.CHECKS)),
        str(sum(len(one.mistakes) for one in check.CHECKS.values())),
    ], done.stderr


# ---------------------------------------------------------------- the chapters' files


def chapter(name: str, **holds) -> ModuleType:
    """A chapter's module."""
    module = ModuleType(name)
    vars(module).update(holds)
    return module


def answered(label: str, module: str) -> Check:
    """A checker that stands in a module."""
    one = Check(lambda x: x, np.abs, lambda rng: [], (), label)
    one.name = "halve"
    one.solution.__module__ = module
    return one


def test_a_chapter_is_found_by_the_name_of_its_file(tmp_path, monkeypatch):
    package = tmp_path / "planted"
    package.mkdir()
    for name in ("__init__", "ch02", "ch01", "chapters", "core", "notes_ch03"):
        (package / f"{name}.py").write_text(f"HERE = {name!r}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert [module.HERE for module in chapters.modules([str(package)], "planted")] == ["ch01", "ch02"]


@pytest.mark.parametrize("name", ["ch3", "ch003", "ch_03", "chapter03", "ch03_masks"])
def test_a_file_that_is_named_nearly_like_a_chapter_is_not_passed_over(tmp_path, name):
    (tmp_path / f"{name}.py").write_text("")
    with pytest.raises(ValueError, match=rf"here: expected chapters' files named as ch09.py, got {name}.py"):
        chapters.modules([str(tmp_path)], "here")


def test_every_file_that_holds_a_checker_or_a_by_hand_answer_is_found():
    files = Path(check.__file__).parent.glob("*.py")
    holding = {
        path.stem for path in files if re.search(r"^(@checker\(|BY_HAND = )", path.read_text("utf-8"), re.MULTILINE)
    }
    found = chapters.modules(check.__path__, "toytf.check")
    assert holding == {module.__name__.rpartition(".")[2] for module in found}
    assert len(holding) == len(contents())


def test_two_checkers_or_answers_of_one_name_are_refused():
    first, second = (chapter("here.ch01", one=answered("ex-01-1", "here.ch01")) for _ in range(2))
    with pytest.raises(ValueError, match="here.ch01: expected a name of its own for each answer, got 'halve' a second"):
        chapters.checkers([first, second])
    by_hand = ByHand("ex-01-1", (Part(1),))
    with pytest.raises(ValueError, match="here.ch01: expected a name of its own for each answer, got '1.1' a second"):
        chapters.by_hand([chapter("here.ch01", BY_HAND=[by_hand, by_hand])])


def test_an_answer_in_another_chapter_s_file_is_refused():
    with pytest.raises(
        ValueError, match=re.escape("here.ch02: expected exercises of this chapter, got ex-01-1 (halve)")
    ):
        chapters.checkers([chapter("here.ch02", one=answered("ex-01-1", "here.ch02"))])
    with pytest.raises(ValueError, match=re.escape("here.ch02: expected exercises of this chapter, got ex-01-1 (1.1)")):
        chapters.by_hand([chapter("here.ch02", BY_HAND=[ByHand("ex-01-1", (Part(1),))])])


def test_a_checker_that_a_chapter_imports_stays_where_it_is_defined():
    one = answered("ex-01-1", "here.ch01")
    found = chapters.checkers([chapter("here.ch01", one=one), chapter("here.ch02", one=one)])
    assert found == {"halve": one}


def test_an_editor_sees_every_checker():
    """The package imports each by its name and says so in ``__all__``, where no program has to run to read it."""
    tree = ast.parse(Path(check.__file__).read_text("utf-8"))
    imported = {
        name.asname or name.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and re.search(r"\.ch\d\d$", node.module)
        for name in node.names
    }
    assert imported == {name: one.solution.__module__ for name, one in check.CHECKS.items()}
    (listed,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
    )
    assert set(listed) == {"BY_HAND", "CHECKS", "Check", "Report", "byhand", "hide_answers", "points", *check.CHECKS}
    assert all(getattr(check, name) is one for name, one in check.CHECKS.items())
