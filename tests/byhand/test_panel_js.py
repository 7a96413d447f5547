"""The panels of `toytf.byhand` in Chromium: what mouse, finger and keyboard make of them, and what stays without."""

import re

import numpy as np
import pytest
from test_panels import small_chain

import sitecheck
from sitecheck import DESKTOP, PHONE
from toytf import byhand
from toytf.byhand import panels
from toytf.example import PUBLISHED, TOKENS, W_K

RNG = np.random.default_rng(0)
WORDS = "hello mundo world how ? EOS SOS a hola c".split()
KEYS = byhand.matmul(PUBLISHED.x, W_K[0], "K₁", "X W_K", rows=TOKENS)
THINGS = [
    KEYS,
    byhand.softmax(RNG.normal(size=(1, 10)), "p", "softmax(logits)", rows=["SOS"], cols=WORDS).only("SOS, hola"),
    byhand.weighted_sum([[0.25, 0.75]], [[6, 4], [8, 2]], "out", "A V", rows=["it"]),
    byhand.matmul(RNG.normal(size=(2, 4)), RNG.normal(size=(4, 8)), "before", "Z W₁", rows=TOKENS),
    byhand.add(RNG.normal(size=(2, 8)), RNG.normal(size=(2, 8)), "X", "E + PE", rows=TOKENS),
    byhand.table(RNG.normal(size=(12, 6)), "many", rows=[f"a long name {i}" for i in range(12)]),
    byhand.table(RNG.normal(size=(7, 4)), "long numbers", rows=["self-attention"] * 7, decimals=8),
    byhand.table(RNG.normal(size=(9, 9)) * 1e6, "far too wide", rows=["a long name"] * 9),
    byhand.beside(KEYS, KEYS),
    byhand.chain("Attention ([chapter 4](04_self_attention.html))", *small_chain()),
]
DARK = """:root { color-scheme: dark; --toytf-ink: #e6eaf0; --toytf-paper: #14181d; --toytf-quiet: #a3adbb;
  --toytf-row: #551c40; --toytf-accent: #ff8fb8; --toytf-on-accent: #2a0a1a; --toytf-faint: #8d897f }"""


def document(*things, dark=False):
    """A page with panels, as the site makes it: ids, one style and one script, a text after each panel."""
    body = "".join(f"<p>Before.</p>{thing.html()}" for thing in things)
    numbers = iter(range(1, 1000))
    body = re.sub(r'<div class="byhand (?=s\d)', lambda _: f'<div id="panel-{next(numbers)}" class="byhand ', body)
    style = "body { margin: 1rem auto; max-width: 44rem; padding: 0 20px; font: 16px/1.5 Arial, sans-serif; "
    style += "background: var(--toytf-paper, #fff); color: var(--toytf-ink, #1c2430) }"
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Panels</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{style} {DARK if dark else ''}</style>{panels.style_and_script()}"
        f"<main><h1>Panels</h1>{body}<p id=after>{'After. ' * 400}</p></main></html>"
    )


@pytest.fixture
def show(browser, tmp_path, request):
    """Open a page with panels; it has no errors in the end."""
    problems, contexts = [], []

    def opened(*things, width=DESKTOP, fragment="", settings=None, **how):
        with_script = (settings or {}).get("java_script_enabled", True)
        path = tmp_path / "panels.html"
        path.write_text(document(*things, **how), "utf-8")
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, **(settings or {})))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if said.type in ("error", "warning") else None)
        page.goto(path.as_uri() + fragment)
        if with_script and page.locator(".byhand-sums").count():
            page.wait_for_selector("[role=grid]", state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not problems, problems


def lit(page):
    """The words of the lit cells: those of the row's colour, those of the column's, the entry."""
    return [page.locator(f"td.{name}").all_inner_texts() for name in ("b-r", "b-c", "b-h")]


def sum_shown(page):
    return " ".join(" ".join(page.locator(".byhand-live").all_inner_texts()).split())


def entry(page, i, j):
    return page.locator("#panel-1 .byhand-result tbody tr").nth(i).locator("td").nth(j)


SUM = "World, 2 = 2.84·0 + 3.99·1 + 4·0 + 6·1 = 0 + 3.99 + 0 + 6 = 9.99"
TERMS = ["2.84 × 0 = 0", "3.99 × 1 = 3.99", "4 × 0 = 0", "6 × 1 = 6", "9.99"]
NOTHING = [[], [], []]
LIT = [["2.84", "3.99", "4.00", "6.00"], ["0", "1", "0", "1"], ["9.99"]]


def test_the_mouse_lights_an_entry_and_a_click_keeps_it_until_the_next_or_escape(show):
    page = show(KEYS)
    before = page.evaluate("document.querySelector('#after').getBoundingClientRect().top")
    entry(page, 1, 1).hover()
    assert lit(page) == LIT and sum_shown(page) == SUM
    assert page.locator(".byhand-live .b-r").all_inner_texts() == ["2.84", "3.99", "4", "6"]
    assert page.locator(".byhand-live .b-c").all_inner_texts() == ["0", "1", "0", "1"]
    assert page.evaluate("document.querySelector('#after').getBoundingClientRect().top") == before, "it moves"
    assert page.locator(".byhand-corner > div").all_inner_texts() == TERMS
    page.locator("h1").hover()
    assert lit(page) == LIT and sum_shown(page) == "", "in the corner the sum is in nobody's way"
    entry(page, 1, 1).click()
    page.locator("h1").hover()
    assert lit(page) == LIT
    entry(page, 0, 0).click()
    assert sum_shown(page).startswith("Hello, 1 =")
    entry(page, 0, 0).click()
    assert sum_shown(page) == ""
    entry(page, 1, 1).click()
    page.keyboard.press("Escape")
    assert lit(page) == LIT and sum_shown(page) == ""


def test_a_sum_below_its_panel_moves_nothing_under_the_mouse_and_covers_nothing_once_it_is_kept(show):
    page = show(THINGS[2])
    text = page.locator("#after")
    before = text.bounding_box()["y"]
    entry(page, 0, 1).hover()
    assert sum_shown(page) and text.bounding_box()["y"] == before, "it moves"
    entry(page, 0, 1).click()
    line, sums = page.locator(".byhand-live").bounding_box(), page.locator(".byhand-sums").bounding_box()
    assert line["y"] + line["height"] <= sums["y"] and sums["y"] + sums["height"] <= text.bounding_box()["y"]
    page.keyboard.press("Escape")
    assert text.bounding_box()["y"] == before


def test_before_anybody_chose_the_largest_entry_of_a_product_shows_its_sum_beside_the_upper_factor(show):
    page = show(KEYS)
    page.locator("#panel-1 .byhand-corner").wait_for(state="attached")
    assert lit(page) == LIT and sum_shown(page) == ""
    rows = page.locator("#panel-1 .b-above tbody tr")
    for k in range(4):
        term, row = page.locator(".byhand-corner > div").nth(k).bounding_box(), rows.nth(k).bounding_box()
        assert abs(term["y"] + term["height"] / 2 - row["y"] - row["height"] / 2) < 5
        assert term["x"] + term["width"] < row["x"]
    entry(page, 0, 0).click()
    assert page.locator(".byhand-corner > div").last.inner_text() == "4.00"


def test_the_end_of_a_sum_is_not_written_over_the_names_of_columns(show):
    """Also where the factors stand side by side though the widest letters would not have let them."""
    names = [f"{j} {wave}" for j, wave in enumerate(["sin", "cos"] * 2)]
    one = byhand.table(RNG.uniform(0.1, 1, size=(1, 4)), "PE₁", rows=["pos 1"], cols=names, decimals=5)
    turn = byhand.table(RNG.uniform(0.1, 1, size=(4, 4)), "T₁", rows=names, cols=names, decimals=5)
    page = show(byhand.matmul(one, turn, "PE₂", "PE₁ T₁", decimals=5))
    seen = 0
    for step, width in enumerate(range(840, 600, -8)):
        page.set_viewport_size({"width": width, "height": 900})
        entry(page, 0, 2 + step % 2).click()
        between = page.evaluate("""() => {
            const [end, head] = [".byhand-corner > :last-child", ".b-left thead th"].map(x => document.querySelector(x))
            return end && head.getBoundingClientRect().top - end.getBoundingClientRect().bottom }""")
        if between is not None:
            seen += 1
            assert between >= -2, width
    assert seen > 2


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_a_long_row_stands_line_by_line_beside_the_columns_it_is_multiplied_with(show, width):
    rng = np.random.default_rng(1)
    row, factor = rng.normal(size=(1, 16)), rng.normal(size=(16, 3))
    page = show(
        byhand.matmul(row, factor, "y W", rows=["y"], cols=["hola", "pequeño", "rojo"], decimals=2), width=width
    )
    entry(page, 0, 0).click()
    assert page.locator(".b-one td").count() == page.locator(".b-above tbody tr").count() == 16
    terms = page.locator(".byhand-corner > div")
    assert terms.last.inner_text() == f"≈ {entry(page, 0, 0).inner_text()}"
    for k, product in enumerate(row[0] * factor[:, 0]):
        places = page.locator(".b-one td").nth(k), terms.nth(k), page.locator(".b-above tbody tr").nth(k)
        left, term, right = (place.bounding_box() for place in places)
        assert abs(left["y"] - right["y"]) < 2 and abs(left["height"] - right["height"]) < 2
        assert abs(term["y"] + term["height"] / 2 - right["y"] - right["height"] / 2) < 5
        assert left["x"] + left["width"] < term["x"] + 1 and term["x"] + term["width"] < right["x"]
        said = terms.nth(k).inner_text().replace("−", "-")
        assert float(said.split("≈ ")[-1]) == pytest.approx(product, abs=0.0051)
        assert ("×" in said) == ("≈" in said) == (width == DESKTOP), "on a phone the product alone"
    assert page.locator("#panel-1.b-cornered").count() == 1, "the sum covers what follows"


def test_a_finger_opens_an_entry_and_puts_it_away(show):
    page = show(KEYS, width=PHONE, settings={"has_touch": True, "is_mobile": True})
    entry(page, 1, 1).tap()
    assert lit(page) == LIT and sum_shown(page) == SUM
    entry(page, 1, 1).tap()
    assert sum_shown(page) == ""


def test_keys_walk_and_a_panel_is_one_tab_stop(show):
    page = show(KEYS, KEYS)
    page.keyboard.press("Tab")
    assert sum_shown(page).startswith("Hello, 1 =")
    said = []
    for key in ("ArrowRight", "ArrowDown", "End", "Home", "ArrowUp", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
        said.append(sum_shown(page).partition(" =")[0])
    assert said == ["Hello, 2", "World, 2", "World, 3", "World, 1", "Hello, 1", "Hello, 1", "Hello, 1"]
    for _ in range(2):  # the disclosure, then the next panel
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.byhand').id") == "panel-2"


def test_only_entries_that_are_worked_out_can_be_opened(show):
    page = show(THINGS[1])
    hola = WORDS.index("hola")
    entry(page, 0, 0).click()
    assert sum_shown(page) == ""
    entry(page, 0, hola).click()
    assert sum_shown(page).startswith("SOS, hola")
    assert page.locator(".byhand-result [tabindex='0']").inner_text() == entry(page, 0, hola).inner_text()


def test_a_whole_row_has_one_sum(show):
    page = show(THINGS[2])
    entry(page, 0, 1).hover()
    assert sum_shown(page).startswith("it = 0.25·[6 4] + 0.75·[8 2]")
    assert lit(page)[:2] == [["0.25", "0.75"], ["6", "4", "8", "2"]]


def test_a_fragment_opens_its_entry_at_once_and_later(show):
    page = show(*[KEYS] * 9, fragment="#panel-9.1.1")
    assert sum_shown(page) == SUM and page.locator("#panel-9 .b-h").is_visible()
    assert page.evaluate("scrollY") > 0
    page.evaluate("location.hash = '#panel-2.0.2'")
    page.wait_for_function("document.querySelector('#panel-2 .b-h')")
    assert sum_shown(page).startswith("Hello, 3")
    page.evaluate("location.hash = '#panel-99.5.5'")  # nothing there, and no error


CUT = """() => [...document.querySelectorAll(".byhand td, .byhand th, .byhand caption, .byhand-title")].filter(x => {
  const box = x.getBoundingClientRect()
  if (!box.width || x.closest(".byhand-scroll")) return false
  const panel = x.closest(".byhand").getBoundingClientRect()
  return box.right > panel.right + 1 || box.left < panel.left - 1 || x.scrollWidth > x.clientWidth + 1
}).map(x => x.textContent)"""


@pytest.mark.parametrize("width", [PHONE, 768, DESKTOP])
def test_nothing_is_cut(show, width):
    page = show(*THINGS, width=width)
    assert page.evaluate(CUT) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_factors_cross_on_a_phone_too(show):
    page = show(KEYS, width=PHONE)
    where = page.evaluate(
        """() => [...document.querySelectorAll("table")].map(t => [...t.tBodies[0].rows].map(r =>
        [...r.querySelectorAll("td")].map(x => x.getBoundingClientRect())).map(r => r.map(x => [x.right, x.bottom])))"""
    )
    left, above, result = where
    for i in range(2):
        assert left[i][0][1] == pytest.approx(result[i][0][1], abs=1)  # rows beside rows
    for j in range(3):
        assert above[0][j][0] == pytest.approx(result[0][j][0], abs=1)  # columns above columns


NAMES = """() => [...document.querySelectorAll('table')].map(table => {
  const name = table.caption ?? table.closest('.byhand').querySelector('.byhand-title')
  const [first, last] = [0, 4].map(at => { // of the shape, "2 × 8"
      const digit = document.createRange(), text = name.querySelector('.byhand-shape').firstChild
      digit.setStart(text, at); digit.setEnd(text, at + 1)
      return digit.getBoundingClientRect().left })
  const signs = [...name.querySelectorAll('.b-i, .b-n')].filter(x => x.checkVisibility())
  return [signs.map(x => x.dataset.i ?? x.textContent).join(), first > last]
})"""


@pytest.mark.parametrize(
    "width, told, down",
    [
        (PHONE, [[sign, True] for sign in ("ᵀ", "ᵀ", "ᵀ", "turned", "ᵀ", "ᵀ", "")], "Hello, 2"),
        (DESKTOP, [["", False]] * 6 + [["ᵀ", False]], "World, 1"),
    ],
)
def test_a_turned_matrix_is_named_so_its_shape_too_and_keys_walk_it_the_way_it_is_seen(show, width, told, down):
    """X and Xᵀ would look the same."""
    x = RNG.normal(size=(2, 8))
    tables = byhand.table(x, "X", rows=TOKENS), byhand.table(x.T, "Y", cols=TOKENS).T
    page = show(byhand.add(*tables[:1] * 2, "Z", "X + Y", rows=TOKENS), byhand.relu(x, "r"), *tables, width=width)
    assert page.evaluate(NAMES) == told
    entry(page, 0, 0).click()
    page.keyboard.press("ArrowDown")
    assert sum_shown(page).startswith(down)


def test_no_name_of_a_column_is_broken_where_the_matrix_fits(show):
    names = "a am i thanks student <eos>".split()
    page = show(byhand.table(np.eye(6, dtype=int), "one-hot", rows=names, cols=names))
    lines = """[...document.querySelectorAll("thead th")].map(x => {
        const all = document.createRange(); all.selectNodeContents(x); return all.getClientRects().length })"""
    assert page.evaluate(lines) == [1] * 6


def test_without_a_script_the_sums_are_one_disclosure_away(show):
    page = show(KEYS, settings={"java_script_enabled": False})
    page.locator("#panel-1 summary").click()
    line = page.locator("#panel-1 .byhand-sums p").nth(4)
    assert line.is_visible() and " ".join(line.inner_text().split()) == SUM


def test_outputs_of_a_notebook_bring_their_script_many_times_and_it_runs_once(show):
    page = show(KEYS, KEYS)
    for _ in range(3):
        page.add_script_tag(content=panels.script())
    entry(page, 1, 1).click()
    assert sum_shown(page) == SUM and page.locator(".byhand-live").count() == 1


@pytest.mark.parametrize(("width", "dark"), [(PHONE, False), (DESKTOP, True)], ids=["phone", "dark desktop"])
def test_anybody_can_use_it(show, dark, width):
    page = show(*THINGS, dark=dark, width=width)
    entry(page, 1, 1).click()
    assert sitecheck.axe_problems(page) == []


# ---------------------------------------------------------------- chains


def tap(page, title, i, j):
    titles = page.locator(".byhand-title").filter(has_text=re.compile(f"^{title}( |$)"))
    panel = page.locator(".byhand").filter(has=titles)
    panel.locator(".byhand-result tbody tr").nth(i).locator("td").nth(j).click()


def test_tapping_leads_from_the_output_back_to_the_embedding(show):
    page = show(byhand.chain(*small_chain()))
    tap(page, "S", 1, 0)
    # row World of Q, and row Hello of K, which is column Hello of its transpose
    assert lit(page)[0] == ["9.99", "3.99", "4.00"] and lit(page)[1] == ["4.00", "8.00", "4.00"]
    tap(page, "K", 0, 1)
    assert "Made of X" in sum_shown(page) and "Back to S, World, Hello = 87.8800" in sum_shown(page)
    tap(page, "X", 0, 2)
    assert "The way ends here." in sum_shown(page)
    page.get_by_role("button", name="S, World, Hello = 87.8800").click()
    assert sum_shown(page).startswith("World, Hello = 9.99·4 + 3.99·8 + 4·4")
    assert "Back to" not in sum_shown(page)
    page.get_by_role("button", name="Close").click()
    assert sum_shown(page) == "" and lit(page) == NOTHING


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_a_sum_of_a_chain_stands_below_the_table_that_was_touched(show, width):
    page = show(byhand.chain(*small_chain()), width=width)
    tap(page, "S", 1, 0)
    line, table = (page.locator(f".byhand:has(.byhand-live:not(:empty)) {x}") for x in (".byhand-live", "table"))
    assert 0 <= line.bounding_box()["y"] - sum(table.bounding_box()[side] for side in ("y", "height")) < 12
    page.get_by_role("button", name="Q", exact=True).click()
    assert page.locator(".byhand-live:not(:empty)").count() == 1


def long_chain():
    x = byhand.table(PUBLISHED.x, "X", rows=TOKENS)
    steps = ["The first part", x]
    for n in range(14):
        steps += [f"Part {n}", byhand.relu(steps[-1], f"r{n}")]
    return byhand.chain(*steps)


def test_a_closed_part_opens_when_the_way_leads_there_and_the_entry_stays(show):
    page = show(long_chain())
    assert page.locator(".byhand-part[open]").count() == 1
    cell = page.locator(".byhand-result").last.locator("tbody td").first
    cell.evaluate("x => x.scrollIntoView({ block: 'center' })")
    before = cell.bounding_box()["y"]
    cell.click()
    assert page.locator(".byhand-part[open]").count() == 2
    assert abs(cell.bounding_box()["y"] - before) < 2


def test_a_name_in_angle_brackets_is_read_as_it_is_written(show):
    start = byhand.table([[1.0, 2.0]], "Y", rows=["<sos>"])
    page = show(byhand.chain("The rows", start, byhand.relu(start, "r")))
    tap(page, "Y", 0, 1)
    assert sum_shown(page).startswith("Y, <sos>, 2 = 2")
