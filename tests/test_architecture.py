"""The page about the house: its picture is today's, and what it names is there."""

import importlib
import re

import pytest

import architecture
from bookcheck.reading import ROOT

PAGE = (ROOT / "book" / "architecture.md").read_text("utf-8")
FOLDERS = (
    "",
    "book",
    "toytf",
    *(f"toytf/{room}" for room in ("byhand", "check", "course", "live")),
    "book/_ext",
    "book/replays",
    "classroom/toytf_classroom",
)


def missing(page):
    """What a page names in the way of code and is not there: modules, functions, files, folders, commands."""
    problems = []
    for name in re.findall(r"`([^`\s]+)`", page):
        if name.startswith(("make", "check.softmax(")):
            continue
        places = [ROOT / folder / name for folder in FOLDERS]
        module, _, attribute = name.rpartition(".")
        if name.endswith(("/", ".py", ".js", ".css", ".json", ".csv", ".md")):
            if not any(place.exists() for place in places) and name != "grades.csv":
                problems.append(f"{name}: no such file")
        elif attribute and (ROOT / "toytf" / f"{module}.py").exists():
            if not hasattr(importlib.import_module(f"toytf.{module}"), attribute):
                problems.append(f"{name}: toytf.{module} has no {attribute}")
        elif home := {"published": "replays.published", "check": "toytf.check"}.get(module):
            if not hasattr(importlib.import_module(home), attribute):
                problems.append(f"{name}: {home} has no {attribute}")
        elif not (ROOT / "toytf" / f"{name}.py").exists() and name != "toytf":
            problems.append(f"{name}: no such module")
    return problems


def test_the_picture_is_drawn_from_todays_imports():
    drawn = architecture.PICTURE.read_text("utf-8")
    assert drawn == architecture.picture() + "\n", "draw it again: python book/architecture.py"


def test_what_the_page_names_is_there():
    assert missing(PAGE) == []


@pytest.mark.parametrize(
    "name", ["modelling", "ops.softmux", "published.tables", "check.layernorm", "gradr.py", "cheque/", "panle.js"]
)
def test_what_is_not_there_is_noticed(name):
    assert missing(f"`{name}`")


def test_every_file_and_room_of_the_package_has_its_sentence():
    there = {path.stem for path in (ROOT / "toytf").glob("*.py")} - {"__init__"}
    there |= {f"{path.parent.name}/" for path in (ROOT / "toytf").glob("*/__init__.py")}
    table = PAGE[PAGE.index("| Where") : PAGE.index("Around the package")]
    rows = {name for row in re.findall(r"^\|(.*?)\|", table, re.M) for name in re.findall(r"`([^`]+)`", row)}
    assert rows == there


def test_an_arrow_that_others_imply_is_left_out_and_no_other():
    arrows = {("a", "b"), ("b", "c"), ("a", "c"), ("a", "d")}
    assert architecture.not_implied(arrows) == {("a", "b"), ("b", "c"), ("a", "d")}


def test_a_new_import_changes_the_picture(monkeypatch):
    found = architecture.imports()
    monkeypatch.setattr(architecture, "imports", lambda: found | {("positions", "tree")})
    assert architecture.picture() + "\n" != architecture.PICTURE.read_text("utf-8")
