"""How figures are written: text that is text, the page's colours, panels, the same bytes twice."""

import base64
import gzip
import io
import re
import struct

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

from toytf.course import plot
from toytf.course.plot_svg import PALETTE, number, paint, png, svg


@pytest.fixture(autouse=True)
def _the_style():
    with plt.rc_context():
        plot.style()
        yield
    plt.close("all")


def curve(title="Up it goes"):
    figure, ax = plt.subplots()
    ax.plot([0, 1, 2], [0, 1, 4], "o-", color=plot.BLUE)
    ax.set(title=title, xlabel="steps", ylabel="height")
    return figure


def pair():
    figure, axes = plt.subplots(1, 2, figsize=plot.PAIR)
    for ax, name in zip(axes, ("left", "right"), strict=True):
        plot.heatmap([[0.25, 0.5], [0.75, 1.0]], title=name, ax=ax)
    figure.suptitle("Two panels say one thing")
    return figure


def test_text_of_a_figure_is_text():
    text = svg(curve())
    assert {"steps", "height", "Up it goes", "0.50"} <= set(re.findall(r"<text[^>]*>([^<]*)</text>", text))


def test_the_same_figure_gives_the_same_bytes():
    assert svg(curve()) == svg(curve())
    assert svg(pair()) == svg(pair())


def test_a_figure_is_afterwards_as_it_was():
    figure = curve()
    title = figure.axes[0].get_title(loc="left")
    svg(figure)
    assert figure.axes[0].get_title(loc="left") == title and figure._suptitle is None
    assert figure.dpi == plt.rcParams["figure.dpi"] and figure.axes[0].get_gid() is None


def test_colours_of_the_palette_are_the_pages():
    text = svg(curve())
    assert "var(--toytf-blue,#0072B2)" in text and "var(--toytf-ink,#1F2430)" in text
    assert not re.search(r"(?<!,)#[0-9A-Fa-f]{6}", text)


def test_a_colour_that_is_not_the_pages_stays_as_it_is():
    assert paint((0.5, 0.5, 0.5)) == "#808080"
    assert {paint(matplotlib.colors.to_rgb(c)) for c in PALETTE} == {
        f"var(--toytf-{n},{c})" for c, n in PALETTE.items()
    }


def test_two_panels_are_two_pictures_and_one_message():
    text = svg(pair())
    assert text.count('<svg class="panel"') == 2
    assert re.search(r'<g class="message"><text[^>]*>Two panels say one thing</text></g>', text)


def test_panels_of_a_narrow_figure_stay_together():
    figure, axes = plt.subplots(2, 1, figsize=(6.4, 5))
    axes[1].set_xlabel("below")
    assert svg(figure).count('<svg class="panel"') == 1


def test_a_colour_bar_goes_with_its_panel_and_is_no_raster():
    text = svg(plot.heatmap(np.eye(20), title="Many cells").figure)
    assert text.count('<svg class="panel"') == 1 and "linearGradient" in text and "<image" not in text


def test_a_long_message_is_wrapped_and_not_cut():
    words = "A message that is so long that no figure of this width could hold it in a single line of text"
    lines = re.findall(r"<text[^>]*>([^<]*)</text>", re.search(r'<g class="message">(.*?)</g>\n', svg(curve(words)))[1])
    assert len(lines) > 1 and " ".join(lines) == words


def test_cells_have_the_colours_of_their_numbers_in_their_places():
    text = svg(plot.heatmap([[0.0, 1.0], [0.5, 0.25]], title="Cells").figure)
    cells = re.findall(r'<path d="M(\S+?) (\S+?)h[^"]*" shape-rendering="crispEdges" style="fill:(#\w+)"', text)
    by_place = [c for *_, c in sorted((float(y), float(x), c) for x, y, c in cells)]
    cividis = matplotlib.colormaps["cividis"]
    assert by_place == ["#" + bytes(cividis(v, bytes=True)[:3]).hex() for v in (0.0, 1.0, 0.5, 0.25)]


def test_many_cells_are_a_small_picture_with_the_first_row_on_top():
    matrix = np.zeros((20, 512))
    matrix[0] = 1
    text = svg(plot.heatmap(matrix, title="Many").figure)
    data = base64.b64decode(re.search(r"base64,([^\"]+)", text)[1])
    assert struct.unpack(">II", data[16:24]) == (512, 20)
    pixels = plt.imread(io.BytesIO(data))
    np.testing.assert_allclose(pixels[0, 0, :3], matplotlib.colormaps["cividis"](1.0)[:3], atol=0.01)


def test_names_in_two_different_figures_differ():
    one, other = (svg(plot.heatmap(np.eye(20) * k, title=f"{k}").figure) for k in (1, 2))
    names = [set(re.findall(r'id="([^"]+)"', text)) for text in (one, other)]
    assert names[0] and not names[0] & names[1]


def test_a_line_that_leaves_its_axes_is_cut_at_the_border():
    figure, ax = plt.subplots()
    ax.plot([0, 1], [0, 100], color=plot.RED)
    ax.set(ylim=(0, 1))
    text = svg(figure)
    (shape,) = re.findall(r'<path d="([^"]+)"[^>]*toytf-red', text)
    assert "clip" not in text and all(-1 <= float(y) <= 300 for y in re.findall(r"M\S+ (\S+?)l", shape))


def test_a_shape_that_leaves_its_axes_is_clipped():
    figure, ax = plt.subplots()
    ax.fill_between([0, 1], [0, 0], [5, 100], color=plot.RED)
    ax.set(ylim=(0, 1))
    assert "clip-path" in svg(figure)


def test_an_ordinary_figure_is_small():
    assert len(gzip.compress(svg(curve()).encode())) < 3000
    figure, ax = plt.subplots()
    ax.plot(*np.random.default_rng(0).normal(size=(2, 1500)), ".")
    assert len(gzip.compress(svg(figure).encode())) < 9000


def test_a_formula_is_text_with_its_index_lower():
    figure, ax = plt.subplots()
    ax.set_xlabel("width $d_k$")
    assert re.search(r'italic">d</tspan><tspan dy="[^"]+" font-size="[^"]+" font-style="italic">k</tspan>', svg(figure))


def test_a_root_in_a_figure_is_refused_with_its_text():
    figure, ax = plt.subplots()
    ax.set_xlabel(r"$\sqrt{d}$")
    with pytest.raises(ValueError, match=r"text in a figure: expected no root or fraction, got"):
        svg(figure)


@pytest.mark.parametrize("write", [svg, png])
def test_what_is_no_figure_is_refused(write):
    with pytest.raises(TypeError, match="figure: expected a Figure, got a str"):
        write("figure")


def test_the_same_code_draws_png():
    data = png(pair())
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">I", data[16:20])[0] == round(9.6 * 144)


def test_an_unknown_form_is_refused():
    with pytest.raises(ValueError, match="form"):
        plot.style("gif")


@pytest.mark.parametrize("value, word", [(0.5, ".5"), (-0.04, "0"), (12.0, "12"), (-0.5, "-.5"), (100.0, "100")])
def test_numbers_are_written_short(value, word):
    assert number(value) == word
