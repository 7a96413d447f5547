"""What stands in sight in the book: the code that is taught, and not what is around it."""

import ast

from bookcheck.reading import code_cells, syntax_tree, tags, where

# Any of these folds a cell's code.
FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell"}

# Names of what draws, lays out and shows; a panel says itself what it multiplies.
_SHOWING = {
    "plt": "plotting",
    "plot": "plotting",
    "ax": "plotting",
    "axes": "plotting",
    "byhand": "the code of a panel or table",
    "published": "a comparison with published numbers",
    "Markdown": "the code of a table",
    "HTML": "the code of a table",
    "display": "the code of a table",
}


def _in_sight(node):
    """What a node of a visible cell's syntax tree is, if it should be folded; else None."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return "an import"
    if isinstance(node, ast.Assert):
        return "an assert"
    if isinstance(node, ast.Name):
        return _SHOWING.get(node.id)
    return None


def sight_problems(nb, name):
    """No cell in sight imports, asserts, draws or lays out a table."""
    problems = []
    for index, cell in code_cells(nb):
        tree = syntax_tree(cell.source)
        if tree is None or tags(cell) & FOLDED:
            continue
        found = dict.fromkeys(what for node in ast.walk(tree) if (what := _in_sight(node)))
        if found:
            problems.append(
                f"{where(name, index, cell)} has {' and '.join(found)} in sight: "
                "give it a cell of its own, tagged hide-input, or hide-cell if it shows nothing"
            )
    return problems


def folded_problems(nb, name):
    """Only what has an output keeps it in sight: a cell that shows nothing is folded as a whole."""
    return [
        f"{where(name, index, cell)} shows nothing, and is tagged hide-input: expected hide-cell"
        for index, cell in code_cells(nb)
        if "hide-input" in tags(cell) and not cell.outputs
    ]
