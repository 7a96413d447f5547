"""What happens in stages: all of it stands without a script, and a stage hides what comes later."""

import numpy as np
import pytest

from livecheck import Case, button, said, shown
from toytf import live
from toytf.course import pronoun
from toytf.ops import softmax

WORDS, X = pronoun.sentence("tired")
TRACE = pronoun.attend(X, pronoun.DESCRIBES)[1]
SCORES, VALUES = TRACE.scaled_scores[3], TRACE.v
POINTS = {"a": [1.8, 0.6, 1.2], "a + 2": [3.8, 2.6, 3.2], "4a": [7.2, 2.4, 4.8], "b": [1.0, 4.0, 1.0]}
MIXING = live.mixing(SCORES, VALUES, rows=WORDS, query="it")
NORMALISING = live.normalising(POINTS)
THEIRS = np.array([[0.0, 1.0, 0.5], [2.0, 0.0, 1.0], [0.5, -1.0, 3.0]])
OURS = {"nothing": THEIRS, "order": THEIRS[:, ::-1], "sign": -THEIRS}
BREAKING = live.breaking(THEIRS, OURS)
BARS = {"one": {"1": [0.75, 0.25, np.nan], "2": [0.5, 0.3, 0.2]}, "other": {"1": [1, 0, np.nan], "2": [1, 0, 0]}}
VARIED = live.varied("How many?", "nouns", BARS, rows=WORDS[:3], says=["One.", "Two."], id="varied", full=2)
VISIBLE = "all => all.map((e) => e.checkVisibility({ visibilityProperty: true }))"
PLACES = """all => all.map((e) => { const [x, y] = e.style.transform.match(/-?[0-9.]+/g) ?? [0, 0];
    return [Number(e.getAttribute("cx")) + Number(x), Number(e.getAttribute("cy")) + Number(y)]; })"""


def words(x, decimals):
    return " ".join(f"{one:.{decimals}f}" for one in np.atleast_1d(np.round(x, decimals) + 0.0))


def begins(page, last):
    """The script begins at the first stage; without it all of them stand."""
    return 1 if page.locator(".live-on").count() else last


def filled(page, table, stages, expected, stage):
    """The cells of a table, of which those of later stages are hidden."""
    cells = page.locator(f"{table} tbody td")
    assert shown(page, table) == expected
    there = cells.evaluate_all(VISIBLE)
    flat = [at for row in stages for at in row]
    assert [may for may, at in zip(there, flat, strict=True) if at] == [at <= stage for at in flat if at]


def shows_mixing(page, stage=None):
    stage = stage or begins(page, last=4)
    shares = softmax(SCORES)
    mixed = shares[:, None] * VALUES
    lines = [
        [words(s, 3), "", words(a, 3), words(v, 0), words(m, 3)]
        for s, a, v, m in zip(SCORES, shares, VALUES, mixed, strict=True)
    ]
    lines.append(["", "", words(1, 3), "", words(shares @ VALUES, 3)])
    filled(page, ".live-mixing", [[1, 0, 2, 1, 3]] * 5 + [[0, 0, 2, 0, 4]], lines, stage)
    grown = page.locator(".live-bar").evaluate_all(
        "all => all.map((e) => parseFloat(getComputedStyle(e, '::before').width))"
    )
    assert (max(grown) > 20) is (stage >= 2)


def shows_normalising(page, stage=None, b=POINTS["b"]):
    stage = stage or begins(page, last=3)
    rows = np.array([*list(POINTS.values())[:-1], b])
    fallen = rows - rows.mean(axis=1, keepdims=True)
    ways = rows, fallen, fallen / rows.std(axis=1, keepdims=True)
    lines = [[words(place, n) for place, n in zip(way, (1, 1, 2), strict=True)] for way in zip(*ways, strict=True)]
    filled(page, ".live-rows", [[1, 2, 3]] * 4, lines, stage)
    heads = page.locator(".live-rows thead span").evaluate_all(VISIBLE)
    assert heads == [stage >= 2, stage >= 3], "a name over an empty column"
    labels = page.locator("svg text[data-stage]")
    assert labels.all_text_contents() == ["a, a + 2, 4a", "b"] and labels.evaluate_all(VISIBLE) == [stage >= 3] * 2
    now = ways[stage - 1]
    side, back, level = (np.array(v) / np.linalg.norm(v) for v in ([1, -1, 0], [1, 1, -2], [1, 1, 1]))
    flat = 62 * np.stack([now @ side, -0.45 * (now @ back) - 0.62 * (now @ level)], axis=1)
    assert np.allclose(page.locator(".fall-dot").evaluate_all(PLACES), flat, rtol=0, atol=0.11)
    ends = page.locator(".fall-out").evaluate_all(
        "all => all.map((e) => { const p = e.getPointAtLength(1e9); return [p.x, p.y] })"
    )
    if stage == 3:
        assert np.allclose(ends, flat, rtol=0, atol=0.11)
    assert page.locator(".fall-down").evaluate_all(VISIBLE) == [stage >= 2] * 4
    assert page.locator(".fall-out, .fall-circle").evaluate_all(VISIBLE) == [stage >= 3] * 5


def shows_breaking(page, stage=1):
    tops = np.array(list(OURS.values()))[stage - 1][[0, 1, 2], [1, 0, 2]]
    height = 180 * (3 - tops) / 6
    assert np.allclose([y for _, y in page.locator(".fall-dot").evaluate_all(PLACES)], height, rtol=0, atol=0.11)
    rings = page.locator(".fall-row").evaluate_all("all => all.map((e) => Number(e.getAttribute('cy')))")
    assert np.allclose(rings, [60, 30, 0], rtol=0, atol=0.11)


def shows_varied(page, stage=None):
    stage = stage or begins(page, last=2)
    for k, by_value in enumerate(BARS.values()):
        now = by_value[str(stage)]
        lines = [["", "–" if np.isnan(share) else words(share, 2)] for share in now]
        assert shown(page, f".live-bars >> nth={k}") == lines
        grown = page.locator(f".live-bars >> nth={k} >> .live-bar").evaluate_all(
            "all => all.map((e) => [parseFloat(getComputedStyle(e, '::before').width), e.clientWidth])"
        )
        wanted = [0 if np.isnan(share) else share / 2 * wide for share, (_, wide) in zip(now, grown, strict=True)]
        assert np.allclose([width for width, _ in grown], wanted, rtol=0.1)


def case(thing, shows, names, **more):
    last = len(names)
    label, setting = "[data-setting=stage] label", thing.data.get("label", "stage")
    return Case(
        thing,
        shows,
        links={f"stage={k}": {"stage": k} for k in range(2, last + 1)} | more.get("links", {}),
        keys=(lambda page: page.get_by_role("radio").first.press("ArrowRight"), {"stage": 2}, "stage=2"),
        finger=(lambda page: page.locator(label, has_text=names[1]).tap(), {"stage": 2}),
        wrong_links={"stage=9": (f"{setting}: expected one of {', '.join('1234'[:last])}, got “9”", {})}
        | more.get("wrong_links", {}),
    )


CASE_MIXING = case(MIXING, shows_mixing, ["scores", "shares", "products", "sum"])
CASE_BREAKING = case(BREAKING, shows_breaking, list(OURS))
CASE_VARIED = case(VARIED, shows_varied, ["1", "2"])
CASE_NORMALISING = case(
    NORMALISING,
    shows_normalising,
    ["rows", "mean 0", "variance 1"],
    links={"stage=3&row=3.5+1.5+1": {"stage": 3, "b": [3.5, 1.5, 1.0]}},
    wrong_links={f"row={row}": (f"b: expected a row in the picture, got “{row}”", {}) for row in ("2", "90 1 2", "x")},
)


def test_the_last_row_is_dragged_sideways_and_along_its_level(touch):
    page = touch(NORMALISING)
    ring, dot = page.locator(".fall-row").last, page.locator(".fall-dot").last

    def row():
        return [float(word) for word in shown(page, ".live-rows")[3][0].split()]

    box = ring.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y - 20)
    page.mouse.up()
    first, second, third = row()
    assert first > 1.5 and second < 4 and third > 1
    shows_normalising(page, 3, [first, second, third])
    before = dot.evaluate_all(PLACES)
    for _ in range(3):
        ring.press("ArrowUp")
    assert np.allclose(row(), np.add([first, second, third], 0.3)) and dot.evaluate_all(PLACES) == before
    ring.press("ArrowRight")
    assert dot.evaluate_all(PLACES) != before
    button(page, "Reset").click()
    shows_normalising(page)


@pytest.mark.parametrize(("keys", "said"), [(2, "sum"), (3, "sum ≈")])
def test_a_sum_says_when_its_rounded_addends_make_another(keys, said):
    assert f">{said}<" in live.mixing([0] * keys, [[1]] * keys, rows=["a"] * keys, query="a", decimals=1).html()


def test_one_guesses_first_and_then_the_last_stage_is_played(touch):
    names = {"rows": WORDS[:3], "says": ["One.", "Two."], "id": "varied", "full": 2}
    page = touch(live.varied("How many?", "nouns", BARS, guess=("the first of two", [0.125, 0.5]), **names))
    assert not button(page, "Play").is_visible() and not page.get_by_text("nouns").is_visible()
    page.get_by_role("radio", name="0.50").focus()
    page.keyboard.press("Space")
    shows_varied(page, 1)  # with the other stage yet to come
    assert said(page) == "You guessed 0.50 for the end. One."
    page.locator(".live-said", has_text="You guessed 0.50 for the end: right. Two.").wait_for()
    shows_varied(page, 2)
    assert button(page, "Play").is_visible() and not page.get_by_role("radio", name="0.50").is_visible()
    button(page, "Reset").click()
    page.get_by_role("radio", name="0.12").press("Space")
    page.locator(".live-said", has_text="You guessed 0.12 for the end: too low. Two.").wait_for()


def test_each_stage_says_what_happens(touch):
    page = touch(MIXING, fragment="#mixing?stage=2")
    assert said(page) == "Softmax makes shares of them, 1 in all. tired gets 0.986."
    page = touch(NORMALISING, fragment="#normalising?stage=2")
    assert said(page).startswith("Each row minus its mean")
    page = touch(BREAKING, fragment="#breaking?stage=3")
    assert said(page) == "Largest difference of any word 6.00; the most probable word stays after 0 of 3 tokens."


@pytest.mark.parametrize("row", [[1.0, 2.0], [3.0, 3.0, 3.0], 4.0])
def test_a_row_that_has_no_place_on_the_circle_is_named(row):
    with pytest.raises(ValueError, match=r"points\['b'\]: expected three numbers that are not all equal"):
        live.normalising({"a": [1.0, 2.0, 3.0], "b": row})
