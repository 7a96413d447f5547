"""Sphinx extension: the titles of exercises, and code that is shown when the reader wants all of it.

A text says which code is not for every reader, by the tags `hide-input` and `hide-cell`, and gives an exercise its
number. The page has one switch for the first (toytf.js), and a title for the second.
"""

import re

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_exercise.nodes import exercise_node, exercise_subtitle, exercise_title

LINES, LETTERS = 8, 30  # of code that fits into a margin without a line being broken
ABOUT = re.compile(r"[\w ]+, level \d, \d+ min")


def mark_short(app, doctree):
    """A few lines that print nothing stand in a page's margin, where it has one."""
    for cell in doctree.findall(
        lambda node: isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"
    ):
        silent = [part.get("nb_element") for part in cell] == ["cell_code_source"]  # not an output without its code
        if silent and "more-code" not in cell["classes"]:
            lines = cell.astext().splitlines()
            if len(lines) <= LINES and max(map(len, lines)) <= LETTERS:
                cell["classes"].append("short-code")


def mark_code(app, doctree):
    """What `hide-input` and `hide-cell` hide, the page's one switch shows; the numbers of solutions stay folded."""
    for cell in doctree.findall(lambda node: isinstance(node, nodes.container) and "hide_mode" in node):
        if "solution" in cell["cell_metadata"].get("tags", []):
            cell["prompt_show"], cell["prompt_hide"] = "The numbers of the solutions", "Hide"
            continue
        mode = cell.attributes.pop("hide_mode")
        if mode == "input+output":  # with `hide-output` too: it stays folded, below a title that the cell gives
            cell["hide_mode"], cell["prompt_hide"] = "output", cell["prompt_show"]
        (cell if mode == "all" else cell[0])["classes"].append("more-code")


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
    app.connect("doctree-read", mark_code)
    app.connect("doctree-read", mark_short)
    app.add_post_transform(TitleExercises)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
