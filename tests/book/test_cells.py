"""What a page says of its cells: exercises' titles, and the words on which hidden code opens."""

import re
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from toytf_cells import prompt

from bookcheck.reading import ROOT

EXERCISE = """# 9. Norms

:::{exercise} 9.1: What is $1 + 1$ in `int`?
:label: ex-09-1
:nonumber:

*By hand and code, level 2, 15 min*

Add them.
:::

:::{solution} ex-09-1
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
        ("The check", "for x in xs:\n    assert x\nprint('all')", ["text/plain"], ["hide-input"]),
        ("Code of this figure", "plt.show()\nassert x", ["image/svg+xml", "text/plain"], ["hide-input"]),
        ("Code that sets this up", "live.mask(scores, may_attend)", ["text/html", "text/plain"], ["hide-input"]),
        ("Code of this table", "import x\n\nMarkdown(x)", ["text/markdown"], ["hide-input"]),
        ("A further table", "byhand.table(x)", ["text/html"], ["hide-cell"]),
        ("The numbers of the solutions", "import ast\nassert x", ["text/plain"], ["hide-cell", "solution"]),
        ("The code", "%matplotlib inline", [], ["hide-cell"]),
    ],
)
def test_hidden_code_opens_on_words_that_say_what_it_is(words, source, kinds, tags):
    assert prompt(source, kinds, tags) == words


def test_a_page_titles_exercises_by_their_questions_and_sets_hidden_code_below_what_it_shows(tmp_path):
    table = new_output("execute_result", {"text/html": "<table></table>", "text/plain": "t"}, execution_count=1)
    own = {"tags": ["hide-cell"], "mystnb": {"code_prompt_show": "All dates"}}
    cells = [
        new_markdown_cell(EXERCISE),
        new_code_cell("byhand.table(x)", metadata={"tags": ["hide-input"]}, execution_count=1, outputs=[table]),
        new_code_cell("1", metadata=own, execution_count=2),
    ]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(new_notebook(cells=cells, metadata=metadata), tmp_path / "index.ipynb")
    (tmp_path / "conf.py").write_text(CONF, "utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", tmp_path, tmp_path / "site"]
    built = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert built.returncode == 0, built.stderr
    page = (tmp_path / "site" / "index.html").read_text("utf-8")
    titles = [re.sub(r"<[^>]+>", "", one) for one in re.findall(r'admonition-title">(.*?)</p>', page)]
    titles = [one for one in titles if one != "Hide"]
    assert titles == [r"Exercise 9.1: What is \(1 + 1\) in int?", "Solution", "Code of this table", "All dates"]
    assert '<span class="caption-number">Exercise 9.1: </span>What is' in page
    assert '<p class="exercise-about"><em>By hand and code, level 2, 15 min</em></p>' in page
    assert page.index("<table>") < page.index("Code of this table") < page.index("byhand")
