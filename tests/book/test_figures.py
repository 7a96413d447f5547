"""The figures of all chapters, on a phone and on a desk, in the light and in the dark.

They are taken from the stored notebooks and stand in a page as the book's pages have them.
Below, mistakes are planted to see that each of these checks catches what it is for.
"""

import gzip
import re

import pytest
import toytf_figures

from bookcheck.reading import ROOT, chapter_paths, code_cells, read_notebook

STYLES = "".join((ROOT / "book" / "_assets" / name).read_text("utf-8") for name in ("toytf.css", "figures.css"))
SMALLEST, CONTRAST = 11.9, 4.5
LARGEST = 9_500  # bytes gzipped


FIGURES = {
    f"{path.stem}, cell {index + 1}": svg
    for path in chapter_paths()
    for index, cell in code_cells(read_notebook(path))
    for output in cell.outputs
    if (svg := output.get("data", {}).get("image/svg+xml"))
}


def strange_colours(svg):
    """Colours that are not the page's."""
    bare = re.sub(r"var\(--[\w-]+,#\w+\)", "", re.sub(r"base64,[^\"]+", "", svg))
    return sorted(set(re.findall(r"#[0-9A-Fa-f]{6}\b", bare.lower())))


# Of each text: how high its letters are, how it stands out from what lies under it, whether it leaves the page or
# lies on another.
MEASURE = """([smallest, contrast]) => {
  const found = [];
  const channel = c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = c => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
  const parse = c => { const m = c.match(/[\\d.]+/g).map(Number); return [m[0], m[1], m[2], m[3] ?? 1]; };
  const page = parse(getComputedStyle(document.body).backgroundColor);
  for (const section of document.querySelectorAll("section")) {
    const room = section.getBoundingClientRect(), level = [];
    for (const text of section.querySelectorAll("svg text")) {
      const box = text.getBoundingClientRect();
      if (!box.width || !text.checkVisibility()) continue;
      const style = getComputedStyle(text), matrix = text.getScreenCTM();
      const size = parseFloat(style.fontSize) * Math.hypot(matrix.a, matrix.b);
      const said = `${section.id}: “${text.textContent}”`;
      if (size < smallest) found.push(`${said} is ${size.toFixed(2)} px high`);
      for (const [other, at] of matrix.b ? [] : level) {
        const wide = Math.min(box.right, at.right) - Math.max(box.left, at.left);
        const high = Math.min(box.bottom, at.bottom) - Math.max(box.top, at.top);
        if (wide > 0.5 && high > box.height / 3) found.push(`${said} lies on “${other}”`);
      }
      if (!matrix.b) level.push([text.textContent, box]);
      if (box.left < room.left - 3 || box.right > room.right + 3) found.push(`${said} leaves the page`);
      let under = page.slice(0, 3);
      const at = new DOMPoint(box.left + box.width / 2, box.top + box.height / 2);
      for (const shape of text.closest("svg").querySelectorAll("path, rect, circle")) {
        if (shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_PRECEDING) break;
        const look = getComputedStyle(shape);
        if (look.fill === "none" || look.fill.startsWith("url") || shape.closest("defs, clipPath")) continue;
        if (!shape.isPointInFill(at.matrixTransform(shape.getScreenCTM().inverse()))) continue;
        const over = parse(look.fill), share = over[3] * parseFloat(look.fillOpacity) * parseFloat(look.opacity);
        under = under.map((c, k) => c * (1 - share) + over[k] * share);
      }
      const [a, b] = [light(parse(style.fill)), light(under)].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < contrast) found.push(`${said} has a contrast of ${ratio.toFixed(2)}`);
    }
    for (const shape of section.querySelectorAll("svg :is(path, line, rect, circle)")) {
      if (shape.closest("defs, clipPath, [clip-path], [style*=clip-path]") || !shape.checkVisibility()) continue;
      const [box, whole] = [shape, shape.ownerSVGElement].map((one) => one.getBoundingClientRect());
      const sides = ["left", "top"].map((side) => whole[side] - box[side]);
      const out = Math.max(...sides, box.right - whole.right, box.bottom - whole.bottom);
      const said = `${section.id}: ${shape.outerHTML.slice(0, 100)}`;
      if (out > 1) found.push(`${said} leaves its picture by ${out.toFixed(1)} px`);
    }
  }
  return found;
}"""


def page_of(figures):
    sections = "".join(
        f'<section id="{name}">{toytf_figures.in_page(svg, "A figure", number)}</section>'
        for number, (name, svg) in enumerate(figures.items())
    )
    style = "body { margin: 0; background: var(--toytf-paper); font: 16px system-ui, sans-serif }"
    return f"<!doctype html><html><style>{STYLES}{style}</style><body>{sections}</body></html>"


def problems(browser, figures, width, dark=False):
    """What is too small, too faint, or cut."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light")
    page.set_content(page_of(figures))
    page.evaluate("dark => document.body.dataset.theme = dark ? 'dark' : 'light'", dark)
    found = page.evaluate(MEASURE, [SMALLEST, CONTRAST])
    page.close()
    return found


def test_one_chapter_has_the_spine_and_figures_are_small_and_have_the_pages_colours():
    spines = [name for name, svg in FIGURES.items() if 'class="toytf-spine"' in svg]
    assert len(spines) == 1 and len(FIGURES) > 80
    assert {name: strange for name, svg in FIGURES.items() if (strange := strange_colours(svg))} == {}
    sizes = {name: len(gzip.compress(svg.encode())) for name, svg in FIGURES.items()}
    assert {name: size for name, size in sizes.items() if size > LARGEST} == {}


@pytest.mark.parametrize("width, dark", [(350, False), (350, True), (736, False), (736, True)])
def test_text_of_every_figure_is_large_enough_and_dark_enough_and_all_is_whole(browser, width, dark):
    assert problems(browser, FIGURES, width, dark) == []


# How high the letters of all figures are, and those of titles; how much of the column charts fill.
SCALE = """() => {
  const px = (text) => parseFloat(getComputedStyle(text).fontSize) * (text.getScreenCTM?.().a ?? 1);
  const sizes = (chosen, of) => [...new Set([...document.querySelectorAll(chosen)].map((one) => of(one).toFixed(1)))];
  const turned = (text) => /rotate/.test(text.getAttribute("transform"));
  const wide = [...document.querySelectorAll(".toytf-figure > div > :only-child")].filter((one) => {
    const { width, height } = one.firstChild.viewBox.baseVal;
    return width > 1.6 * height;
  });
  return [
    sizes(".toytf-figure text", (text) => turned(text) ? px(text.ownerSVGElement) : px(text)), sizes("figcaption", px),
    Math.min(...wide.map((one) => one.offsetWidth / one.parentElement.offsetWidth)),
  ];
}"""


@pytest.mark.parametrize("width, letters", [(358, "12.0"), (704, "13.5"), (736, "13.5")])
def test_letters_of_all_figures_are_of_one_size_below_that_of_titles_and_charts_fill_the_column(
    browser, width, letters
):
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.set_content(page_of(FIGURES))
    assert page.evaluate(SCALE) == [[letters], ["15.0"], 1]
    page.close()


def test_names_in_a_page_are_unique():
    text = page_of(FIGURES)
    names = re.findall(r'\bid="([^"]+)"', text)
    assert len(names) == len(set(names))
    assert set(re.findall(r'(?:url\(#|href="#)([^")]+)', text)) <= set(names)


# --- Planted mistakes ---------------------------------------------------------------------------


def figure(content):
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" class="toytf-figure" viewBox="0 0 460 100" width="500" height="109" '
        'style="font:15.5px sans-serif">\n<g class="message"><text x="0" y="16">A &lt; B,</text>'
        '<text x="0" y="32">and C</text></g>\n'
        f'<svg class="panel" x="0" y="40" width="460" height="60" viewBox="0 40 460 60">{content}</svg>\n</svg>\n'
    )


GOOD = '<text x="20" y="60" style="fill:var(--toytf-ink,#1F2430)">good</text>'


@pytest.mark.parametrize(
    "content, message",
    [
        (GOOD, None),
        (GOOD.replace("style=", 'font-size="14" style='), "is 10.6"),
        (GOOD.replace('x="20"', 'x="450"'), "leaves the page"),
        (GOOD.replace("--toytf-ink,#1F2430", "--toytf-line,#C9CED6"), "has a contrast of"),
        ('<rect x="0" y="40" width="99" height="40" style="fill:#1f2430"/>' + GOOD, "has a contrast of 1."),
        (GOOD + GOOD.replace('x="20"', 'x="50"'), "lies on “good”"),
        (GOOD + '<path d="M9 60q20 -60 40 0" style="fill:none;stroke:#000"/>', "leaves its picture by"),
    ],
    ids=["good", "small", "cut", "faint", "dark on dark", "two texts at one place", "an arc too high"],
)
def test_what_cannot_be_read_or_seen_is_noticed(browser, content, message):
    found = problems(browser, {"planted": figure(content)}, 350)
    assert found == [] if message is None else len(found) == 1 and message in found[0]


def test_a_colour_of_nobody_is_noticed():
    assert strange_colours(figure(GOOD)) == []
    assert strange_colours(figure(GOOD.replace("var(--toytf-ink,#1F2430)", "#ff0000"))) == ["#ff0000"]


def test_a_figure_in_the_page_says_its_message_as_a_sentence_and_its_alternative_text():
    html = toytf_figures.in_page(figure(GOOD), 'A "picture"', 3)
    assert "<figcaption>A &lt; B, and C</figcaption>" in html
    assert '<div role="img" aria-label="A &quot;picture&quot;"><span style="--w:460;--h:60"><svg class="panel"' in html
    assert 'class="paper"' not in html and ">good</text>" in html
