"""Figures: heat maps, and how all are written: text that is text, the page's colours, panels, the same bytes twice."""

import re

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

from toytf.course import plot
from toytf.course.plot_svg import PALETTE, number, paint, svg


@pytest.fixture(autouse=True)
def _the_style():
    with plt.rc_context():
        plot.style()
        yield
    plt.close("all")


def curve(**looks):
    figure, ax = plt.subplots()
    ax.plot([0, 1, 2], [0, 1, 4], "o-", color=plot.BLUE)
    ax.set(**{"title": "Up it goes", "xlabel": "width $d_k$", "ylabel": "height"} | looks)
    return figure


def pair():
    figure, axes = plt.subplots(1, 2, figsize=plot.PAIR)
    for ax, name in zip(axes, ("left", "right"), strict=True):
        plot.heatmap([[0.25, 0.5], [0.75, 1.0]], title=name, ax=ax)
    figure.suptitle("Two panels say one thing")
    return figure


# ---------------------------------------------------------------- heat maps


def test_a_heat_map_shows_the_matrix_it_was_given_with_its_numbers():
    matrix = np.array([[0.0, 0.25], [0.5, 1.0]])
    ax = plot.heatmap(matrix, title="Weights", rows=["a", "b"], cols=["c", "d"], decimals=2)
    np.testing.assert_array_equal(ax.images[0].get_array(), matrix)
    assert [t.get_text() for t in ax.texts] == ["0.00", "0.25", "0.50", "1.00"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b"]


def test_a_large_heat_map_has_no_numbers_and_is_no_raster():
    text = svg(plot.heatmap(np.eye(20), title="Many cells").figure)
    assert text.count('shape-rendering="crispEdges"') == 1 and "<image" not in text and "1.00" not in text


def test_a_heat_map_refuses_what_is_no_matrix():
    with pytest.raises(ValueError, match="matrix: expected rows and columns, got shape 3"):
        plot.heatmap(np.zeros(3), title="")


def test_cells_lay_the_accent_on_the_paper_the_more_the_larger_their_number_and_letters_stand_out_from_it():
    text = svg(plot.heatmap([[0.0, 1.0], [0.5, 0.25]], title="Cells").figure)
    cells = re.findall(r'<path d="M(\S+?) (\S+?)h[^"]*" shape-rendering="crispEdges" style="fill:([^"]*)"', text)
    by_place = [c for *_, c in sorted((float(y), float(x), c) for x, y, c in cells)]
    grounds = "", ";fill-opacity:.78", ";fill-opacity:.25"
    assert by_place == [f"var(--toytf-accent,#A3195B){share}" for share in grounds]
    inks = re.findall(r'style="fill:var\(--toytf-(\w+)[^"]*">[01]\.\d\d<', text)
    assert inks == ["grey", "paper", "paper", "ink"]


def test_a_map_of_ones_own_has_the_ramp_without_asking():
    image = plt.subplots()[1].imshow(np.eye(2))
    assert image.cmap == plot.RAMP


def test_a_cell_ends_where_the_next_one_begins():
    """Else a light seam shows between them."""
    text = svg(plot.heatmap(np.random.default_rng(0).normal(size=(11, 13)), title="Cells").figure)
    paths = re.findall(r'<path d="([^"]*)" shape-rendering="crispEdges"', text)
    boxes = [re.findall(r"-?[\d.]+", box) for path in paths for box in path.split("z")[:-1]]
    lefts, tops, rights, bottoms = zip(
        *[
            (float(x), float(y), round(float(x) + float(w), 1), round(float(y) + float(h), 1))
            for x, y, w, h, _ in boxes
        ],
        strict=True,
    )
    assert len(boxes) > 100
    assert set(rights) - {max(rights)} <= set(lefts) and set(bottoms) - {max(bottoms)} <= set(tops)


# ---------------------------------------------------------------- how a figure is written


def test_text_is_text_a_formula_too():
    text = svg(curve())
    assert {"height", "Up it goes", "0.5"} <= set(re.findall(r"<text[^>]*>([^<]*)</text>", text))
    assert re.search(r'italic">d</tspan><tspan dy="[^"]+" font-size="[^"]+" font-style="italic">k</tspan>', text)


def test_a_root_in_a_figure_is_refused_with_its_text():
    with pytest.raises(ValueError, match=r"text in a figure: expected no root or fraction, got"):
        svg(curve(xlabel=r"$\sqrt{d}$"))


def test_colours_of_the_palette_are_the_pages_and_others_stay():
    assert not re.search(r"(?<!,)#[0-9A-Fa-f]{6}", svg(curve()))
    assert {paint(matplotlib.colors.to_rgb(c)) for c in PALETTE} == {
        f"var(--toytf-{n},{c})" for c, n in PALETTE.items()
    }
    assert paint((0.5, 0.5, 0.5)) == "#808080"


def test_two_panels_are_two_pictures_and_one_message_and_a_narrow_figure_is_one():
    text = svg(pair())
    assert text.count('<svg class="panel"') == 2
    assert re.search(r'<g class="message"><text[^>]*>Two panels say one thing</text></g>', text)
    assert svg(plt.subplots(2, 1, figsize=(6.4, 5))[0]).count('<svg class="panel"') == 1


@pytest.mark.parametrize("figure", [curve, pair])
def test_the_same_figure_gives_the_same_bytes(figure):
    assert svg(figure()) == svg(figure())


def test_names_in_two_different_figures_differ():
    one, other = (svg(curve(title=f"{k}", ylim=(0, 1))) for k in (1, 2))
    names = [set(re.findall(r'id="([^"]+)"', text)) for text in (one, other)]
    assert names[0] and not names[0] & names[1]


def test_a_long_message_is_wrapped_and_not_cut():
    words = "A message that is so long that no figure of this width could hold it in a single line of text"
    message = re.search(r'<g class="message">(.*?)</g>\n', svg(curve(title=words)))[1]
    lines = re.findall(r"<text[^>]*>([^<]*)</text>", message)
    assert len(lines) > 1 and " ".join(lines) == words


def test_lines_of_a_text_stay_together_when_the_page_writes_smaller_and_in_their_box():
    figure = curve()
    figure.axes[0].text(1, 1, "one\ntwo", ha="center", va="center", bbox={"facecolor": plot.PAPER})
    texts = re.findall(r'<text x="(\S+)" y="(\S+)" dy="(\S+)em"[^>]*text-anchor:middle">(?:one|two)<', svg(figure))
    (x0, y0, first), (x1, y1, second) = (map(float, one) for one in texts)
    assert x0 == x1 and abs(y0 - y1) < 3 and second - first == pytest.approx(1.2)


def test_the_numbers_along_an_axis_stand_at_one_height():
    """Also those that matplotlib makes only when it draws."""
    figure = curve(xlim=(0.1, 3.9))
    heights = re.findall(r'y="(\S+)" dy="(\S+)em"[^>]*text-anchor:middle">[0-9.]+<', svg(figure))
    assert len(heights) > 6 and len(set(heights)) == 1


def test_what_leaves_its_axes_is_clipped_and_what_stays_is_not():
    assert "clip-path" in svg(curve(ylim=(0, 1))) and "clip-path" not in svg(curve())


@pytest.mark.parametrize("value, word", [(0.5, ".5"), (-0.04, "0"), (12.0, "12"), (-0.5, "-.5"), (100.0, "100")])
def test_numbers_are_written_short(value, word):
    assert number(value) == word
