"""What `make bench` and `make bench-course` promise: a missed bar is told at the end, and stops nothing."""

import dataclasses
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sitecheck

ROOT = Path(__file__).resolve().parent.parent


def bench(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "bench" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(sys.platform == "win32" or shutil.which("make") is None, reason="make and sh are needed")
@pytest.mark.parametrize(("fails", "status"), [("ten_seeds", 2), ("speed", 2), ("nothing", 0)])
def test_both_benches_run_and_the_status_comes_at_the_end(tmp_path, fails, status):
    shutil.copy(ROOT / "Makefile", tmp_path)
    python = tmp_path / ".venv-torch" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\necho "$1 ran"\ncase $1 in *{fails}*) exit 1;; esac\n')
    python.chmod(0o755)
    # A make inside of `make test` would say which folder it enters.
    command = ["make", "--no-print-directory", "-o", ".venv-torch/torch.stamp", "bench"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    ran, told = done.stdout.splitlines()[:2], done.stdout.splitlines()[2:]
    assert ran == ["bench/ten_seeds.py ran", "bench/speed.py ran"]
    assert done.returncode == status
    expected = f"bench/{fails}.py ended with status 1: its own lines above say why"
    assert told == ([] if fails == "nothing" else [expected])


def test_the_bar_of_the_ten_seeds_is_processor_time(monkeypatch, capsys):
    module = bench("ten_seeds")
    clock = iter([0.0, 2.9, 0.0, 3.1])
    monkeypatch.setattr(module.time, "process_time", lambda: next(clock))

    class Fast:
        """A translator that is there at once and always right."""

        def __init__(self):
            self.params = module.Translator.load().params

        def learn(self, *arguments, **how):
            return [type("Last", (), {"step": 500, "loss": 0.0})]

        def exact(self, pairs):
            return np.ones(len(pairs), dtype=bool)

    monkeypatch.setattr(module.Translator, "new", lambda rng: Fast())
    assert module.main(["--seeds", "1"]) == 0
    assert module.main(["--seeds", "1"]) == 1
    assert "below the bar" in capsys.readouterr().out


# --- make bench-course --------------------------------------------------------------------------

FAST = {
    **{"name": "b", "width": 390, "kilobytes": 50.0, "requests": 3, "first_paint": 0.5, "largest_paint": 0.6},
    **{"blocking": 0.0, "shift": 0.0, "formulas": 0.5},
}


@pytest.mark.parametrize(
    "costs, told",
    [
        ({}, None),
        ({"kilobytes": 401.0}, "401 kB, the goal is 400"),
        ({"name": "first", "kilobytes": 151.0}, "151 kB, the goal is 150"),
        ({"formulas": 0.6}, "formulas stand 0.10 s after the first paint"),
        ({"shift": 0.02}, "layout shift 0.020"),
        ({"blocking": 0.3}, "blocked for 300 ms"),
    ],
)
def test_a_missed_goal_is_named(costs, told):
    course = bench("course")
    found = course.missed(course.Page(**{**FAST, **costs}), "first")
    assert len(found) == (told is not None)
    assert not found or told in found[0]


def test_a_page_has_a_line_with_all_that_it_cost():
    course = bench("course")
    page = course.Page(**FAST)
    assert len(page.row().split()) == len(dataclasses.fields(page))
    assert len(page.row()) == len(course.HEAD)


HEAD = "<!doctype html><title>t</title><meta name='viewport' content='width=device-width'>"
HTML = HEAD + "<body><p>words</p>{}</body>"
LATE = """<p class="math" style="height: 9px"></p><script>
setTimeout(() => {
    const end = performance.now() + 400;
    while (performance.now() < end);
    document.querySelector(".math").innerHTML = "<math><mn>1</mn></math>";
    document.body.insertAdjacentHTML("afterbegin", "<div style='height: 500px'>late</div>");
}, 600);
</script>"""


def test_what_a_page_costs_is_measured_in_the_browser(tmp_path, capsys):
    sitecheck.chromium_or_skip()
    course = bench("course")
    (tmp_path / "good.html").write_text(HTML.format("<p><math><mn>1</mn></math></p>"), "utf-8")
    (tmp_path / "late.html").write_text(HTML.format(LATE), "utf-8")
    noise = np.random.default_rng(0).bytes(500_000).hex()  # half of it when packed
    (tmp_path / "large.html").write_text(HTML.format("<link rel='stylesheet' href='noise.css'>"), "utf-8")
    (tmp_path / "noise.css").write_text(f"/* {noise} */", "utf-8")
    assert course.main(["--site", str(tmp_path), "--pages", "good"]) == 0
    assert "every goal is met" in capsys.readouterr().out
    assert course.main(["--site", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert not re.search(r"^  good", told, re.MULTILINE)
    for what in (
        "large at 390: 5",
        "late at 1280: formulas stand",
        ": layout shift",
        "late at 390: blocked",
    ):
        assert what in told, told


# --- The line of a chapter ----------------------------------------------------------------------

LINE = """<!doctype html><title>t</title><meta name='viewport' content='width=device-width'>
<style>body {{ margin: 0; font: 9px/10px monospace }} pre {{ overflow-x: auto }}</style>
<article><h1>Short</h1><p>Eight words of prose, and no other:</p>{before}
<section id="exercises"><h2>Exercises</h2>{after}</section></article>"""
WORDS = "<p>" + "word " * 2000 + "</p>"
CODE = '<div class="cell"><div class="highlight"><pre>' + "x = 1\n\n" * 61 + "</pre></div></div>"
TALL = '<div style="height: 15150px"></div>'
WIDE = '<div style="overflow-x: auto"><div style="width: 500px">wide</div></div>'
CUT = (
    f'<div class="cell"><div class="cell_output"><div class="output stream"><pre>{"0.25 " * 99}</pre></div></div></div>'
)


def line_of_a_page(monkeypatch, folder, before="", after=""):
    """The status of `--line` for a chapter of this content."""
    sitecheck.chromium_or_skip()
    course = bench("course")
    (folder / "notebooks").mkdir()
    (folder / "notebooks" / "01_short.html").write_text(LINE.format(before=before, after=after), "utf-8")
    monkeypatch.setattr(course, "ROOT", folder)
    return course.main(["--site", str(folder), "--line"])


@pytest.mark.parametrize(
    "planted, told",
    [
        ({"before": WORDS}, "2008 words, the goal is at most 2000"),
        ({"before": TALL}, "15.2 screens, the goal is at most 15"),
        ({"before": CODE}, "61 lines of code, the goal is at most 60"),
        ({"before": CUT}, "1 printed outputs are cut on a phone, the goal is none"),
        ({"after": CUT}, "1 printed outputs are cut on a phone, the goal is none"),
    ],
)
def test_a_line_that_is_too_long_is_named(monkeypatch, tmp_path, capsys, planted, told):
    assert line_of_a_page(monkeypatch, tmp_path, **planted) == 1
    table, misses = capsys.readouterr().out.split("\n\n")
    assert misses == f"1 goals missed\n  notebooks/01_short: {told}\n"
    assert len(table.splitlines()) == 2


def test_what_is_folded_or_stands_behind_the_line_is_not_on_it(monkeypatch, tmp_path, capsys):
    folded = f"<details><summary>Open</summary>{WORDS}{CODE}{TALL}</details>"
    printed = f'<div class="cell">{WORDS}</div><p><span class="math">{"x " * 99}</span></p>{WIDE}'
    planted = {"before": folded + printed, "after": WORDS + CODE + TALL}
    assert line_of_a_page(monkeypatch, tmp_path, **planted) == 0
    told = capsys.readouterr().out
    head, row = [line.split() for line in told.splitlines()[:2]]
    assert dict(zip(head, row, strict=True)) | {"screens": "", "phone": ""} == {
        **{"line": "notebooks/01_short", "words": "9", "screens": "", "phone": ""},
        **{"code": "0", "sideways": "1", "cut": "0"},
    }
    assert "every goal is met" in told


@pytest.mark.parametrize(
    "arguments, told", [(["--site", "nowhere"], "make book"), (["--site", ".", "--pages", "x"], "--pages: expected")]
)
def test_what_cannot_be_measured_is_told(tmp_path, monkeypatch, capsys, arguments, told):
    monkeypatch.chdir(tmp_path)
    assert bench("course").main(arguments) == 2
    assert told in capsys.readouterr().err
