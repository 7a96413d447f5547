"""What happens in stages: all of it stands without a script, and a stage hides what comes later."""

import numpy as np
import pytest

from livecheck import Case, said, shown
from toytf import live
from toytf.course import pronoun
from toytf.ops import softmax

WORDS, X = pronoun.sentence("tired")
TRACE = pronoun.attend(X, pronoun.DESCRIBES)[1]
SCORES, VALUES = TRACE.scaled_scores[3], TRACE.v
POINTS = {"a": [1.8, 0.6, 1.2], "a + 2": [3.8, 2.6, 3.2], "4a": [7.2, 2.4, 4.8], "b": [1.0, 4.0, 1.0]}
MIXING = live.mixing(SCORES, VALUES, rows=WORDS, query="it")
NORMALISING = live.normalising(POINTS)
BARS = {"one": {"1": [0.75, 0.25, np.nan], "2": [0.5, 0.3, 0.2]}, "other": {"1": [1, 0, np.nan], "2": [1, 0, 0]}}
VARIED = live.varied("How many?", "nouns", BARS, rows=WORDS[:3], says=["One.", "Two."], id="varied")
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


def shows_normalising(page, stage=None):
    stage = stage or begins(page, last=3)
    rows = np.array(list(POINTS.values()))
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
    flat = 32 * np.stack([now @ side, -0.45 * (now @ back) - 0.62 * (now @ level)], axis=1)
    assert np.allclose(page.locator(".fall-dot").evaluate_all(PLACES), flat, rtol=0, atol=0.11)
    assert page.locator(".fall-down").evaluate_all(VISIBLE) == [stage >= 2] * 4
    assert page.locator(".fall-out, .fall-circle").evaluate_all(VISIBLE) == [stage >= 3] * 5


def shows_varied(page, stage=None):
    stage = stage or begins(page, last=2)
    for k, by_value in enumerate(BARS.values()):
        now = by_value[str(stage)]
        lines = [["", "–" if np.isnan(share) else words(share, 2)] for share in now]
        assert shown(page, f".live-bars >> nth={k}") == lines
        grown = page.locator(f".live-bars >> nth={k} >> .live-bar").evaluate_all(
            "all => all.map((e) => [parseFloat(getComputedStyle(e, '::before').width), e.clientWidth])"
        )
        wanted = [0 if np.isnan(share) else max(3, share * wide) for share, (_, wide) in zip(now, grown, strict=True)]
        assert np.allclose([width for width, _ in grown], wanted, rtol=0.1)


def case(thing, shows, names):
    last = len(names)
    label, setting = "[data-setting=stage] label", thing.data.get("label", "stage")
    return Case(
        thing,
        shows,
        links={f"stage={k}": {"stage": k} for k in range(2, last + 1)},
        keys=(lambda page: page.get_by_role("radio").first.press("ArrowRight"), {"stage": 2}, "stage=2"),
        finger=(lambda page: page.locator(label, has_text=names[1]).tap(), {"stage": 2}),
        wrong_links={"stage=9": (f"{setting}: expected one of {', '.join('1234'[:last])}, got “9”", {})},
    )


CASE_MIXING = case(MIXING, shows_mixing, ["scores", "shares", "products", "sum"])
CASE_VARIED = case(VARIED, shows_varied, ["1", "2"])
CASE_NORMALISING = case(NORMALISING, shows_normalising, ["rows", "mean 0", "variance 1"])


def test_each_stage_says_what_happens(touch):
    page = touch(MIXING, fragment="#mixing?stage=2")
    assert said(page) == "Softmax makes shares of them, 1 in all. tired gets 0.986."
    page = touch(NORMALISING, fragment="#normalising?stage=2")
    assert said(page).startswith("Each row minus its mean")


@pytest.mark.parametrize("row", [[1.0, 2.0], [3.0, 3.0, 3.0], 4.0])
def test_a_row_that_has_no_place_on_the_circle_is_named(row):
    with pytest.raises(ValueError, match=r"points\['b'\]: expected three numbers that are not all equal"):
        live.normalising({"a": [1.0, 2.0, 3.0], "b": row})
