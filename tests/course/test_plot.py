"""What `toytf.course.plot` promises."""

import ast
from pathlib import Path

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from toytf.course import plot


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_a_heat_map_shows_the_matrix_it_was_given_with_its_numbers():
    matrix = np.array([[0.0, 0.25], [0.5, 1.0]])
    ax = plot.heatmap(matrix, title="Weights", rows=["a", "b"], cols=["c", "d"], decimals=2)
    np.testing.assert_array_equal(ax.images[0].get_array(), matrix)
    assert [t.get_text() for t in ax.texts] == ["0.00", "0.25", "0.50", "1.00"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b"]
    assert ax.get_title(loc="left") or ax.get_title() == "Weights"


def test_a_large_heat_map_has_a_scale_instead_of_numbers():
    ax = plot.heatmap(np.zeros((20, 512)), title="Positions")
    assert not ax.texts and len(ax.figure.axes) == 2


def test_a_heat_map_refuses_what_is_no_matrix():
    with pytest.raises(ValueError, match="matrix: expected rows and columns, got shape 3"):
        plot.heatmap(np.zeros(3), title="")


def test_only_plot_and_its_writer_import_matplotlib():
    for path in Path(plot.__file__).parent.rglob("*.py"):
        imported = {
            name.split(".")[0]
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            for name in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        assert ("matplotlib" in imported) == (path.name in {"plot.py", "plot_svg.py"}), path.name
