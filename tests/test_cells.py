"""What a page says of its cells: exercises' titles, and the words on which hidden code opens."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from toytf_cells import prompt

ROOT = Path(__file__).resolve().parent.parent
EXERCISE = """# 9. Norms

:::{exercise} 9.1: What is $1 + 1$ in `int`?
:label: ex-09-1
:nonumber:

*By hand and code, level 2, 15 min*

Add them.
:::

:::{solution} ex-09-1
:label: sol-09-1
:class: dropdown

It is 2.
:::
"""
CONF = f"""
import sys
sys.path.insert(0, {str(ROOT / "book" / "_ext")!r})
extensions = ["myst_nb", "sphinx_exercise", "toytf_cells"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
nb_execution_mode = "off"
exercise_style = "solution_follow_exercise"
"""


@pytest.mark.parametrize(
    ("words", "source", "kinds", "tags"),
    [
        ("Imports", "import numpy as np\n\nplot.style()", [], ["hide-cell"]),
        ("Imports", "from toytf import byhand", [], ["hide-cell"]),
        ("The check", "assert x == 1", [], ["hide-cell"]),
        ("The check", "for x in xs:\n    assert x\nprint('all')", ["text/plain"], ["hide-input"]),
        ("Code of this figure", "plt.show()\nassert x", ["image/svg+xml", "text/plain"], ["hide-input"]),
        ("Code of this table", "byhand.matmul(x, w)", ["text/html", "text/plain"], ["hide-input"]),
        ("Code that sets this up", "live.mask(scores, may_attend)", ["text/html", "text/plain"], ["hide-input"]),
        ("Code of this table", "import x\n\nMarkdown(x)", ["text/markdown"], ["hide-input"]),
        ("Code of this table", "Markdown(lines)", ["text/markdown", "text/plain"], ["hide-input"]),
        ("A further table", "byhand.table(x)", ["text/html"], ["hide-cell"]),
        ("The numbers of the solutions", "import ast\nassert x", ["text/plain"], ["hide-cell", "solution"]),
        ("The code", "print(fmt(x))", ["text/plain"], ["hide-input"]),
        ("The code", "%matplotlib inline", [], ["hide-cell"]),
    ],
)
def test_hidden_code_opens_on_words_that_say_what_it_is(words, source, kinds, tags):
    assert prompt(source, kinds, tags) == words


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page built from a small notebook."""
    folder = tmp_path_factory.mktemp("book")
    table = new_output("execute_result", {"text/html": "<table></table>", "text/plain": "t"}, execution_count=3)
    cells = [
        new_markdown_cell(EXERCISE),
        new_code_cell("import numpy as np", metadata={"tags": ["hide-cell"]}, execution_count=1),
        new_code_cell("x = 1", execution_count=2),
        new_code_cell("byhand.table(x)", metadata={"tags": ["hide-input"]}, execution_count=3, outputs=[table]),
        new_code_cell(
            "1", metadata={"tags": ["hide-cell"], "mystnb": {"code_prompt_show": "All dates"}}, execution_count=4
        ),
    ]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(new_notebook(cells=cells, metadata=metadata), folder / "index.ipynb")
    (folder / "conf.py").write_text(CONF, "utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", folder, folder / "site"]
    built = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert built.returncode == 0, built.stderr
    return (folder / "site" / "index.html").read_text("utf-8")


def test_an_exercise_is_titled_by_its_number_and_question_and_its_solution_does_not_repeat_them(page):
    titles = [re.sub(r"<[^>]+>", "", title) for title in re.findall(r'class="admonition-title">(.*?)</p>', page)]
    assert titles[0] == r"Exercise 9.1: What is \(1 + 1\) in int?"
    assert titles[1] == "Solution"
    assert re.sub(r"<[^>]+>", "", page).count("9.1: What is") == 1
    assert '<span class="caption-number">Exercise 9.1: </span>What is' in page


def test_kind_level_and_minutes_are_a_line_with_a_class_of_its_own(page):
    assert '<p class="exercise-about"><em>By hand and code, level 2, 15 min</em></p>' in page
    assert page.count("exercise-about") == 1


def test_folded_code_has_its_words_and_stands_below_what_it_shows(page):
    titles = re.findall(r'collapsed admonition-title">(.*?)</p>', page)
    assert titles == ["Imports", "Code of this table", "All dates"]  # the last in its own words
    assert page.index("<table>") < page.index("Code of this table") < page.index("byhand")
