"""The page about the house: what it names is there, and every file of the package has its place in it."""

import importlib
import re

import pytest

from bookcheck.reading import ROOT

PAGE = (ROOT / "book" / "architecture.md").read_text("utf-8")
ROOMS = ["toytf", *(f"toytf/{room}" for room in ("byhand", "check", "course", "live"))]
FOLDERS = ["", "book", *ROOMS, "book/_ext", "book/replays", "classroom/toytf_classroom"]


def missing(page):
    """What a page names in the way of code and is not there: modules, functions, files, folders."""
    problems = []
    for name in re.findall(r"`([^`\s(]+)`", page):
        module, _, attribute = name.rpartition(".")
        home = {"ledger": "replays.ledger", "check": "toytf.check"}.get(module, f"toytf.{module}")
        if any((ROOT / folder / path).exists() for folder in FOLDERS for path in (name, f"{name}.py")):
            continue
        try:
            if not hasattr(importlib.import_module(home), attribute):
                problems.append(f"{name}: {home} has no {attribute}")
        except ImportError:
            problems.append(f"{name}: not there")
    return problems


def test_what_the_page_names_is_there():
    assert missing(PAGE) == ["grades.csv: not there"]  # a teacher's


@pytest.mark.parametrize("name", ["modelling", "ops.softmux", "ledger.judges", "gradr.py", "cheque/"])
def test_what_is_not_there_is_noticed(name):
    assert missing(f"`{name}`")


def test_every_file_and_room_of_the_package_has_its_sentence_and_its_box():
    there = {path.stem for path in (ROOT / "toytf").glob("*.py")} - {"__init__"}
    there |= {f"{path.parent.name}/" for path in (ROOT / "toytf").glob("*/__init__.py")}
    table = PAGE[PAGE.index("| Where") : PAGE.index("Around the package")]
    rows = {name for row in re.findall(r"^\|(.*?)\|", table, re.M) for name in re.findall(r"`([^`]+)`", row)}
    assert rows == there
    picture = (ROOT / "book" / "_assets" / "architecture.svg").read_text("utf-8")
    assert set(re.findall(r">\s*(\w+/?)</text>", picture)) == {name for name in there if not name.startswith("_")}
