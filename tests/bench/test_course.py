"""What `bench/course.py` promises: what a page costs is measured, and what misses a goal is named at the end."""

import numpy as np
import pytest

import course

HEAD = "<!doctype html><title>t</title><meta name='viewport' content='width=device-width'>"
LATE = """<script>
setTimeout(() => {
    const end = performance.now() + 400;
    while (performance.now() < end);
    document.body.insertAdjacentHTML("afterbegin", "<div style='height: 500px'>late</div>");
}, 600);
</script>"""


def test_what_a_page_costs_is_measured_in_the_browser(tmp_path, capsys):
    (tmp_path / "good.html").write_text(f"{HEAD}<p>words</p>", "utf-8")
    (tmp_path / "late.html").write_text(f"{HEAD}<p>words</p>{LATE}", "utf-8")
    (tmp_path / "large.html").write_text(f"{HEAD}<link rel='stylesheet' href='noise.css'><p>words</p>", "utf-8")
    noise = np.random.default_rng(0).bytes(500_000).hex()  # half of it when packed
    (tmp_path / "noise.css").write_text(f"/* {noise} */", "utf-8")
    assert course.main(["--site", str(tmp_path), "--pages", "good"]) == 0
    assert "every goal is met" in capsys.readouterr().out
    assert course.main(["--site", str(tmp_path)]) == 1
    table, misses = capsys.readouterr().out.split("goals missed")
    assert "good at 390" in table and "good" not in misses
    for what in (
        "large at 390: kB 5",
        "late at 390: shift",
        "late at 390: blocked ms",
    ):
        assert what in misses


CHAPTER = """<!doctype html><title>t</title><meta name='viewport' content='width=device-width'>
<style>body {{ margin: 0; font: 9px/10px monospace }} pre {{ overflow-x: auto }}</style>
<article><h1>Short</h1><p>Eight words of prose, and no other:</p>{before}
<section id="exercises"><h2>Exercises</h2>{after}</section></article>"""
WORDS = "<p>" + "word " * 2100 + "</p>"
CODE = '<div class="cell"><div class="highlight"><pre>' + "x = 1\n\n" * 61 + "</pre></div></div>"
TALL = '<div style="height: 15150px"></div>'
CUT = f'<div class="cell"><div class="output highlight"><pre style="white-space: pre">{"0.25 " * 99}</pre></div></div>'
FOLDED = f"<details><summary>Open</summary>{WORDS}{CODE}{TALL}</details>"


@pytest.mark.parametrize(
    "planted, told",
    [
        ({"before": WORDS}, "words 2108, the goal is at most 2100"),
        ({"before": TALL}, "screens 15.2"),
        ({"before": CODE}, "code 61, the goal is at most 60"),
        ({"after": CUT}, "cut on a phone 1, the goal is at most 0"),
        ({"before": FOLDED, "after": WORDS + CODE + TALL}, None),
    ],
)
def test_a_line_that_is_too_long_is_named(tmp_path, capsys, planted, told):
    (tmp_path / "notebooks").mkdir()
    page = CHAPTER.format(before=planted.get("before", ""), after=planted.get("after", ""))
    (tmp_path / "notebooks" / "01_short.html").write_text(page, "utf-8")
    assert course.main(["--site", str(tmp_path), "--line"]) == (told is not None)
    said = capsys.readouterr().out
    assert "every goal is met" in said if told is None else f"1 goals missed\n  notebooks/01_short: {told}" in said
