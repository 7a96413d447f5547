"""Sphinx extension: the titles of exercises, and the words on which hidden code opens.

A text says which code is hidden, by the tags `hide-input` and `hide-cell`, and gives an exercise its number. What the
page says of both is decided here; a cell that hides something to look up may say it itself (`code_prompt_show`).
"""

import ast
import re

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_exercise.nodes import exercise_node, exercise_subtitle, exercise_title

ABOUT = re.compile(r"[\w ]+, level \d, \d+ min")


def prompt(source, kinds, tags):
    """The words for a cell's hidden code.

    source: the code. kinds: the media types of its outputs. tags: its tags.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:  # what only IPython can read
        tree = ast.Module([], [])
    if "solution" in tags:
        return "The numbers of the solutions"
    if any(kind.startswith("image/") for kind in kinds):
        return "Code of this figure"
    if re.search(r"^live\.\w+\(", source, re.MULTILINE):
        return "Code that sets this up"
    if {"text/html", "text/markdown"} & set(kinds):
        return "A further table" if "hide-cell" in tags else "Code of this table"
    # behind what is seen: the code of a table may begin with imports too
    if tree.body and isinstance(tree.body[0], (ast.Import, ast.ImportFrom)):
        return "Imports"
    if any(isinstance(node, ast.Assert) for node in ast.walk(tree)):
        return "The check"
    return "The code"


def name_hidden_code(app, doctree):
    for cell in doctree.findall(lambda node: isinstance(node, nodes.container) and "hide_mode" in node):
        source = next(cell.findall(nodes.literal_block), None)
        if source is not None:
            metadata = cell["cell_metadata"]
            kinds = [n["mime_type"] for n in cell.findall(nodes.Element) if "mime_type" in n]
            own = metadata.get("mystnb", {}).get("code_prompt_show")
            cell["prompt_show"] = own or prompt(source.astext(), kinds, metadata.get("tags", []))
            cell["prompt_hide"] = "Hide"


class CodeBelowOutput(SphinxPostTransform):
    """Set hidden code below what it shows: a table follows the code that is taught."""

    default_priority = 200  # just after myst_nb has folded it
    formats = ("html",)

    def run(self):
        for cell in self.document.findall(nodes.container):
            if cell.get("hide_mode") == "input" and len(cell.children) > 1 and isinstance(cell[0], HideCodeCellNode):
                folded = cell.pop(0)
                folded["classes"] = ["below-output"]
                cell += folded


class TitleExercises(SphinxPostTransform):
    """The title "Exercise 4.1: Which key wins?", where sphinx-exercise has brackets."""

    default_priority = 19  # just before sphinx-exercise does

    def run(self):
        for exercise in self.document.findall(exercise_node):
            title, content = exercise.children
            subtitle = next(title.findall(exercise_subtitle), None)
            if isinstance(title, exercise_title) and subtitle is not None:
                first, *rest = subtitle.children
                number, _, question = first.astext().partition(" ")
                words = f"{title.children[0].astext()} {number} "  # apart, as the numbers of figures are
                number = nodes.inline("", words, classes=["caption-number"])
                title.replace_self(nodes.title("", "", number, nodes.Text(question), *rest))
            if content.children and ABOUT.fullmatch(content[0].astext()):
                content[0]["classes"].append("exercise-about")


def setup(app):
    app.connect("doctree-read", name_hidden_code)
    app.add_post_transform(CodeBelowOutput)
    app.add_post_transform(TitleExercises)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
