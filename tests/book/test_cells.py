"""What a page makes of its cells: exercises' titles, and code that waits for the page's one switch."""

import re
import subprocess
import sys

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

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


def test_exercises_have_questions_for_titles_and_hidden_code_waits_for_the_switch_but_solutions_are_folded(tmp_path):
    table = new_output("execute_result", {"text/html": "<table></table>", "text/plain": "t"}, execution_count=1)
    printed = new_output("stream", name="stdout", text="3")
    cells = [
        new_markdown_cell(EXERCISE),
        new_code_cell("byhand.table(x)", metadata={"tags": ["hide-input"]}, execution_count=1, outputs=[table]),
        new_code_cell("import x", metadata={"tags": ["hide-cell"]}, execution_count=2),
        new_code_cell("answer = 2\n" * 9, metadata={"tags": ["hide-cell", "solution"]}, execution_count=3),
        new_code_cell("print(3)", metadata={"tags": ["remove-input"]}, execution_count=4, outputs=[printed]),
        new_code_cell("b = 4", execution_count=5),
        new_code_cell(
            "byhand.add(x, y)",
            metadata={"tags": ["hide-input", "hide-output"], "mystnb": {"code_prompt_show": "The sum, worked out"}},
            execution_count=6,
            outputs=[new_output("stream", name="stdout", text="5")],
        ),
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
    folds = ["The numbers of the solutions", "The sum, worked out", "The sum, worked out"]
    assert titles == [r"Exercise 9.1: What is \(1 + 1\) in int?", "Solution", *folds]
    assert '<span class="caption-number">Exercise 9.1: </span>What is' in page
    assert '<p class="exercise-about"><em>By hand and code, level 2, 15 min</em></p>' in page
    of_table, rest = page.split("<table>", 1)
    assert of_table.rindex("byhand") > of_table.rindex("more-code")  # the code first, as in the notebook
    imports, solutions = rest.split("answer", 1)
    solutions, fold = solutions.split("worked out", 1)
    assert "more-code" in imports and "more-code" not in solutions.rpartition("hide below-input")[0].split(">b<")[0]
    assert re.findall(r'<details class="admonition hide ([^"]*)', page) == ["above-input", "below-input"]
    assert "byhand" not in fold and "more-code" in solutions.split(">b<")[1]  # its code waits, its output is folded
    assert re.findall(r'class="[^"]*short-code[^"]*".*?<pre>(.*?)</pre>', page, re.DOTALL) == [
        '<span></span><span class="n">b</span> <span class="o">=</span> <span class="mi">4</span>\n'
    ]  # beside the text stands code that prints nothing, and no output
