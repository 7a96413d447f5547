"""The notebooks' stored outputs are complete, in order, clean, and compared by nbval."""

import copy
import re
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookcheck import reading, sight, stored

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
ALT = "A heat map of two rows; the first row is darker than the second."


def picture_output():
    return new_output("display_data", {"image/png": PNG, "text/plain": "<Figure size 640x480 with 1 Axes>"})


@pytest.fixture
def good():
    """A small notebook that keeps every promise."""
    cells = [
        new_markdown_cell("# Scores", id="title"),
        new_code_cell(
            "import numpy as np\n\nrng = np.random.default_rng(1)\nprint(f'{2 / 3:.4f}')",
            id="score",
            execution_count=1,
            outputs=[new_output("stream", name="stdout", text="0.6667\n")],
        ),
        new_code_cell(
            "1 + 1",
            id="sum",
            execution_count=2,
            outputs=[new_output("execute_result", {"text/plain": "2"}, execution_count=2)],
        ),
        new_code_cell(
            "plot(scores)",
            id="figure",
            execution_count=3,
            outputs=[picture_output()],
            metadata={"mystnb": {"image": {"alt": ALT}}},
        ),
        new_code_cell(
            "raise ValueError('d_model: expected an even number, got 3')",
            id="refusal",
            execution_count=4,
            outputs=[new_output("error", ename="ValueError", evalue="d_model: expected an even number, got 3")],
            metadata={"tags": ["raises-exception"]},
        ),
        new_code_cell(
            "np.exp([1000.0]);",
            id="overflow",
            execution_count=5,
            outputs=[new_output("stream", name="stderr", text="RuntimeWarning: overflow\n")],
            metadata={"tags": ["shows-warning"]},
        ),
    ]
    nb = new_notebook(
        cells=cells,
        metadata={
            "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
    )
    nb.nbformat_minor = 5
    return nb


def cell(nb, cell_id):
    return next(c for c in nb.cells if c.id == cell_id)


# ---------------------------------------------------------------------------------------
# The book's own notebooks


def test_the_book_has_notebooks():
    assert reading.notebook_paths()


@pytest.mark.parametrize("path", reading.notebook_paths(), ids=lambda p: p.name)
@pytest.mark.parametrize("promise", stored.STORED_CHECKS, ids=lambda f: f.__name__)
def test_the_stored_outputs_of_a_notebook_hold(path, promise):
    problems = promise(reading.read_notebook(path), path.name)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("path", reading.page_paths(), ids=lambda p: p.name)
def test_the_pictures_of_a_page_have_alternative_texts(path):
    problems = stored.image_problems(path.read_text(encoding="utf-8"))
    assert not problems, "\n".join(problems)


def test_a_notebook_is_valid_nbformat():
    for path in reading.notebook_paths():
        nbformat.validate(reading.read_notebook(path))


def test_every_exemption_from_nbval_belongs_to_a_notebook_of_the_book():
    names = {path.name for path in reading.notebook_paths()}
    assert {file for file, _ in stored.EXEMPT} <= names


# ---------------------------------------------------------------------------------------
# Planted mistakes: stored outputs


def test_the_good_notebook_passes_every_check(good):
    assert stored.stored_problems(good, "good.ipynb") == []


def plant_unexecuted(nb):
    cell(nb, "score").update(execution_count=None, outputs=[])


def plant_cleared_everywhere(nb):
    for _, c in reading.code_cells(nb):
        c.update(execution_count=None, outputs=[])


def plant_executed_twice(nb):
    cell(nb, "figure").execution_count = 7


def plant_swapped_cells(nb):
    nb.cells[1], nb.cells[2] = nb.cells[2], nb.cells[1]


def plant_cleared_print(nb):
    cell(nb, "score").outputs = []


def plant_cleared_result(nb):
    cell(nb, "sum").outputs = []


def plant_empty_cell(nb):
    nb.cells.append(new_code_cell("", id="empty"))


def plant_untagged_error(nb):
    cell(nb, "refusal").metadata.clear()


def plant_stale_error_tag(nb):
    cell(nb, "sum").metadata["tags"] = ["raises-exception"]


def plant_untagged_warning(nb):
    cell(nb, "overflow").metadata.clear()


def plant_stale_warning_tag(nb):
    cell(nb, "sum").metadata["tags"] = ["shows-warning"]


def plant_missing_alt(nb):
    cell(nb, "figure").metadata.clear()


def plant_path_as_alt(nb):
    cell(nb, "figure").metadata["mystnb"]["image"]["alt"] = "_images/03_positions_12_0.png"


def plant_short_alt(nb):
    cell(nb, "figure").metadata["mystnb"]["image"]["alt"] = "A heat map."


def plant_alt_without_picture(nb):
    cell(nb, "figure").outputs = []


def plant_second_picture(nb):
    cell(nb, "figure").outputs.append(picture_output())


def plant_markdown_picture_without_alt(nb):
    cell(nb, "title").source += "\n\n![](map.png)"


def plant_html_picture_without_alt(nb):
    cell(nb, "title").source += '\n\n<img src="map.png">'


def plant_figure_directive_without_alt(nb):
    cell(nb, "title").source += "\n\n:::{figure} map.png\n:width: 300px\nCaption\n:::"


def plant_machine_path_in_output(nb):
    cell(nb, "score").outputs[0].text = "/home/ada/book/03_positions.ipynb\n"


def plant_machine_path_in_source(nb):
    cell(nb, "score").source += "\nopen('C:\\\\Users\\\\ada')".replace("\\\\", "\\")


def plant_machine_path_in_text(nb):
    cell(nb, "title").source = "# Scores\n\nSee `/tmp/scores.txt`."


def plant_numpy_scalar(nb):
    cell(nb, "sum").outputs[0].data["text/plain"] = "np.float64(2.0)"


def plant_numpy_bool(nb):
    cell(nb, "sum").outputs[0].data["text/plain"] = "np.True_"


def plant_array_repr(nb):
    cell(nb, "sum").outputs[0].data["text/plain"] = "array([1., 2.])"


def plant_address(nb):
    cell(nb, "sum").outputs[0].data["text/plain"] = "<function relu at 0x7f3a91c2e8b0>"


def plant_legacy_random(nb):
    cell(nb, "score").source += "\nx = np.random.randn(3)"


def plant_unseeded_generator(nb):
    cell(nb, "score").source += "\nrng = np.random.default_rng()"


def plant_generator_seeded_with_none(nb):
    cell(nb, "score").source += "\nrng = np.random.default_rng(seed=None)"


def plant_stdlib_random(nb):
    cell(nb, "score").source += "\nfrom random import choice"


def plant_skip_tag(nb):
    cell(nb, "sum").metadata["tags"] = ["nbval-skip"]


def plant_ignore_tag(nb):
    cell(nb, "sum").metadata["tags"] = ["nbval-ignore-output"]


def plant_skip_comment(nb):
    cell(nb, "sum").source = "# NBVAL_SKIP\n1 + 1"


def plant_old_ignore_comment(nb):
    cell(nb, "sum").source = "#PYTEST_VALIDATE_IGNORE_OUTPUT\n1 + 1"


def plant_uncompared_output(nb):
    cell(nb, "sum").outputs[0].data["application/vnd.jupyter.widget-view+json"] = "{}"


def plant_repeated_id(nb):
    cell(nb, "sum").id = "score"


def plant_python_version(nb):
    nb.metadata.language_info["version"] = "3.11.2"


def plant_editor_metadata(nb):
    nb.metadata["toc"] = {}


def plant_timing(nb):
    cell(nb, "sum").metadata["execution"] = {"iopub.execute_input": "2026-01-01T00:00:00Z"}


def plant_kernel_by_another_name(nb):
    nb.metadata.kernelspec["display_name"] = "Python 3"


def plant_open_solution(nb):
    cell(nb, "sum").metadata["tags"] = ["solution"]


def plant_folded_cell(nb):
    cell(nb, "sum").metadata["jupyter"] = dict(stored.FOLDED)


def plant_old_format(nb):
    nb.nbformat_minor = 4


PLANTED = {
    stored.execution_problems: [
        plant_unexecuted,
        plant_cleared_everywhere,
        plant_executed_twice,
        plant_swapped_cells,
        plant_empty_cell,
    ],
    stored.stored_output_problems: [plant_cleared_print, plant_cleared_result],
    stored.error_and_warning_problems: [
        plant_untagged_error,
        plant_stale_error_tag,
        plant_untagged_warning,
        plant_stale_warning_tag,
    ],
    stored.picture_problems: [
        plant_missing_alt,
        plant_path_as_alt,
        plant_short_alt,
        plant_alt_without_picture,
        plant_second_picture,
        plant_markdown_picture_without_alt,
        plant_html_picture_without_alt,
        plant_figure_directive_without_alt,
    ],
    stored.path_problems: [
        plant_machine_path_in_output,
        plant_machine_path_in_source,
        plant_machine_path_in_text,
    ],
    stored.repr_problems: [plant_numpy_scalar, plant_numpy_bool, plant_array_repr, plant_address],
    stored.randomness_problems: [
        plant_legacy_random,
        plant_unseeded_generator,
        plant_generator_seeded_with_none,
        plant_stdlib_random,
    ],
    stored.exemption_problems: [
        plant_skip_tag,
        plant_ignore_tag,
        plant_skip_comment,
        plant_old_ignore_comment,
        plant_uncompared_output,
    ],
    stored.metadata_problems: [
        plant_repeated_id,
        plant_python_version,
        plant_editor_metadata,
        plant_timing,
        plant_kernel_by_another_name,
        plant_open_solution,
        plant_folded_cell,
        plant_old_format,
    ],
}


@pytest.mark.parametrize(
    ("promise", "plant"),
    [(promise, plant) for promise, plants in PLANTED.items() for plant in plants],
    ids=lambda f: f.__name__,
)
def test_a_planted_mistake_is_caught_by_its_check(good, promise, plant):
    assert promise(good, "good.ipynb") == []
    planted = copy.deepcopy(good)
    plant(planted)
    problems = promise(planted, "good.ipynb")
    assert problems
    assert all("good.ipynb" in problem for problem in problems)


def test_every_check_of_stored_outputs_has_a_planted_mistake():
    assert set(PLANTED) == set(stored.STORED_CHECKS)


def test_a_listed_exemption_is_allowed_and_a_stale_one_is_not(good):
    listed = {("good.ipynb", "sum"): "prints the time of day"}
    assert "not exempt" in stored.exemption_problems(good, "good.ipynb", listed)[0]
    plant_skip_tag(good)
    assert stored.exemption_problems(good, "good.ipynb", listed) == []


def test_an_exemption_without_a_reason_does_not_count(good):
    plant_skip_tag(good)
    assert stored.exemption_problems(good, "good.ipynb", {("good.ipynb", "sum"): ""})


def test_a_picture_in_text_may_have_its_alternative_text_in_any_form(good):
    cell(good, "title").source = (
        '# Map\n\n![A map](a.png)\n\n<img alt="A map" src="a.png">\n\n'
        ":::{figure} a.png\n:width: 300px\n:alt: A map\nCaption\n:::"
    )
    assert stored.picture_problems(good, "good.ipynb") == []


def test_a_slash_in_base64_or_an_address_on_the_web_is_no_machine_path(good):
    cell(good, "title").source = "[x](https://example.org/home/a.html) and a/tmp/b, 1/work"
    cell(good, "figure").outputs[0].data["image/png"] = "AAAA/tmp/AAAA"
    assert stored.path_problems(good, "good.ipynb") == []


# ---------------------------------------------------------------------------------------
# Planted mistakes: nbval itself


def test_nbval_catches_a_changed_digit_and_misses_cleared_outputs(tmp_path):
    """Run the real nbval: why a check of our own must see that every cell was executed."""

    def write(name, source, text, count=1):
        outputs = [new_output("stream", name="stdout", text=text)] if text else []
        code = new_code_cell(source, id="code", execution_count=count, outputs=outputs)
        nb = new_notebook(
            cells=[code],
            metadata={
                "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                "language_info": {"name": "python"},
            },
        )
        nbformat.write(nb, tmp_path / f"{name}.ipynb")

    source = "print(f'{2 / 3:.4f}')"
    write("good", source, "0.6667\n")
    write("changed_digit", source, "0.6668\n")
    write("cleared_output", source, "")
    write("cleared_and_uncounted", source, "", count=None)
    write("error", "1 / 0", "")

    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "-rA", "-q"]
    run = subprocess.run(
        [*command, "-p", "no:cacheprovider", "--color=no", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    results = dict(reversed(r) for r in re.findall(r"^(PASSED|FAILED|ERROR) .*?(\w+)\.ipynb", run.stdout, re.M))
    assert results == {
        "good": "PASSED",
        "changed_digit": "FAILED",
        "cleared_output": "FAILED",
        "cleared_and_uncounted": "PASSED",  # nbval's gap, which execution_problems closes
        "error": "FAILED",
    }, run.stdout
    for name in ("good", "cleared_and_uncounted"):
        nb = reading.read_notebook(tmp_path / f"{name}.ipynb")
        assert bool(stored.execution_problems(nb, name)) == (name != "good")


# ---------------------------------------------------------------------------------------
# What stands in sight in the book

# Their code is what they are about.
IN_SIGHT = {"follow.ipynb", "instructors.ipynb"}


@pytest.mark.parametrize("path", reading.notebook_paths(), ids=lambda p: p.name)
def test_the_code_in_sight_is_the_code_that_is_taught(path):
    nb = reading.read_notebook(path)
    problems = sight.folded_problems(nb, path.name)
    if path.name not in IN_SIGHT:
        problems += sight.sight_problems(nb, path.name)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import numpy as np\n\nx = 1", "an import"),
        ("def f(x):\n    from math import exp\n    return exp(x)", "an import"),
        ("x = 1\nassert x == 1", "an assert"),
        ("for x in (1, 2):\n    assert x", "an assert"),
        ("_, ax = plt.subplots()", "plotting"),
        ("plot.heatmap(scores)", "plotting"),
        ("byhand.matmul(x, w)", "the code of a panel or table"),
        ("display(x)", "the code of a table"),
        ("Markdown('| a |')", "the code of a table"),
        ("published.table('s0-z')", "a comparison with published numbers"),
    ],
)
def test_planted_code_in_sight_is_found_and_folded_code_is_not(source, what):
    nb = new_notebook(cells=[new_code_cell("x = w @ w"), new_code_cell(source, id="planted")])
    (problem,) = sight.sight_problems(nb, "good.ipynb")
    assert f"good.ipynb, cell 2 (id planted) has {what} in sight" in problem
    for tag in ("hide-input", "hide-cell"):
        nb.cells[1].metadata["tags"] = [tag]
        assert sight.sight_problems(nb, "good.ipynb") == []


def test_a_planted_cell_that_shows_nothing_below_its_folded_code_is_found(good):
    assert sight.folded_problems(good, "good.ipynb") == []
    cell(good, "sum").metadata["tags"] = ["hide-input"]
    assert sight.folded_problems(good, "good.ipynb") == []
    cell(good, "sum").outputs = []
    assert "(id sum) shows nothing" in sight.folded_problems(good, "good.ipynb")[0]
