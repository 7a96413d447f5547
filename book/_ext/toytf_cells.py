"""Sphinx extension: the titles of exercises, and the words on which hidden code opens.

A text says which code is hidden, by the tags `hide-input` and `hide-cell`, and gives an
exercise its number. What the page says of both is decided here, in one place; a cell
that hides something to look up may say it itself (`code_prompt_show`).
"""

import ast
import re

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_exercise.nodes import exercise_node, exercise_subtitle, exercise_title

HIDE = "Hide"


# ---------------------------------------------------------------- hidden code


def prompt(source, kinds, tags):
    """The words for a cell's hidden code.

    source: the code. kinds: the media types of its outputs. tags: its tags.
    """
    try:
        statements = ast.parse(source).body
    except SyntaxError:  # what only IPython can read
        statements = []
    if "solution" in tags:
        return "The numbers of the solutions"
    if any(kind.startswith("image/") for kind in kinds):
        return "Code of this figure"
    if any(_shows_something_to_touch(one) for one in statements):
        return "Code that sets this up"
    if {"text/html", "text/markdown"} & set(kinds):
        return "A further table" if "hide-cell" in tags else "Code of this table"
    # behind what is seen: the code of a table may begin with imports too
    if statements and isinstance(statements[0], (ast.Import, ast.ImportFrom)):
        return "Imports"
    if any(
        isinstance(node, ast.Assert) for one in statements for node in ast.walk(one)
    ):
        return "The check"
    return "The code"


def _shows_something_to_touch(statement):
    """Whether a statement of code is ``live.divisor(...)`` or another element."""
    match statement:
        case ast.Expr(ast.Call(func=ast.Attribute(value=ast.Name(id="live"), attr=_))):
            return True
    return False


def name_hidden_code(app, doctree):
    for cell in doctree.findall(nodes.container):
        if "hide_mode" in cell:
            source = next(cell.findall(nodes.literal_block), None)
            kinds = [part["mime_type"] for part in cell.findall(_of_a_kind)]
            tags = cell["cell_metadata"].get("tags", [])
            if source is not None:
                own = cell["cell_metadata"].get("mystnb", {}).get("code_prompt_show")
                cell["prompt_show"] = own or prompt(source.astext(), kinds, tags)
                cell["prompt_hide"] = HIDE


class CodeBelowOutput(SphinxPostTransform):
    """Set hidden code below what it shows: a table follows the code that is taught."""

    default_priority = 200  # just after myst_nb has folded it
    formats = ("html",)

    def run(self):
        for cell in self.document.findall(nodes.container):
            if cell.get("hide_mode") == "input" and len(cell.children) > 1:
                folded = cell[0]
                if isinstance(folded, HideCodeCellNode):
                    cell.remove(folded)
                    folded["classes"] = ["below-output"]
                    cell += folded


def _of_a_kind(node):
    return isinstance(node, nodes.Element) and "mime_type" in node


# ---------------------------------------------------------------- exercises

ABOUT = re.compile(r"[\w ]+, level \d, \d+ min")


class TitleExercises(SphinxPostTransform):
    """The title "Exercise 4.1: Which key wins?", where sphinx-exercise has brackets."""

    default_priority = 19  # just before sphinx-exercise does

    def run(self):
        for exercise in self.document.findall(exercise_node):
            title, content = exercise.children
            subtitle = next(title.findall(exercise_subtitle), None)
            if isinstance(title, exercise_title) and subtitle is not None:
                title.replace_self(_title(title.children[0].astext(), subtitle))
            if content.children and ABOUT.fullmatch(content[0].astext()):
                content[0]["classes"].append("exercise-about")


def _title(kind, subtitle):
    """The title, its number apart, as those of figures are: `caption-number`."""
    title = nodes.title()
    first, *rest = subtitle.children
    number, _, question = first.astext().partition(" ")
    title += nodes.inline("", f"{kind} {number} ", classes=["caption-number"])
    title += [nodes.Text(question), *rest]
    return title


def setup(app):
    app.connect("doctree-read", name_hidden_code)
    app.add_post_transform(CodeBelowOutput)
    app.add_post_transform(TitleExercises)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
