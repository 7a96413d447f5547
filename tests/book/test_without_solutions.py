"""The book that is built with TOYTF_SOLUTIONS=no: no file of it holds anything of a solution.

A small book has one of each thing that a solution may consist of, each with a word or a number that stands
nowhere else. With solutions the site has all of them, without them none: in no page, source or index.
"""

import json
import zlib

import nbformat
import pytest
import toytf_numbers
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import sitecheck
import text

CHAPTER = "notebooks/09_norms"
DIRECTIVES = """# 9. Norms

:::{exercise} 9.1: One row
:label: ex-09-1
:nonumber:

*By hand, level 1, 5 min*

Normalise it openly.
:::

:::{solution} ex-09-1
:label: sol-09-1
:class: dropdown

Say zanzibar and 0.98765, with `timbuktu`.
:::
"""
WORDS = "toytf_words.js", "09_norms.html.js"  # the search's
SECRETS = "sol-09-1 zanzibar 0.98765 timbuktu samarkand ouagadougou reykjavik 0.87654 toytf-answer".split()


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    folder = sitecheck.write_small_book(tmp_path_factory.mktemp("book") / "book")
    outputs = [
        new_output("stream", text="reykjavik\n"),
        new_output("display_data", {"text/html": "<b>0.87654</b>", "text/plain": "x"}),
    ]
    cells = [
        new_markdown_cell(DIRECTIVES),
        new_markdown_cell("The numbers of samarkand.", metadata={"tags": ["solution"]}),
        new_code_cell("ouagadougou = 1", metadata={"tags": ["hide-cell", "solution"]}, outputs=outputs),
        new_code_cell("openly = 0.5"),
    ]
    (folder / "notebooks").mkdir()
    nbformat.write(new_notebook(cells=cells, metadata=text.METADATA), folder / f"{CHAPTER}.ipynb")
    with (folder / "_toc.yml").open("a") as toc:
        toc.write(f"  - file: {CHAPTER}\n")
    return folder


def given_away(site):
    """From each secret to the files of a site that hold it."""
    found = {secret: set() for secret in SECRETS}
    for path in filter(lambda path: path.is_file(), site.rglob("*")):
        data = path.read_bytes()
        if path.name == "objects.inv":
            data = zlib.decompress(data.split(b"\n", 4)[4])
        if path.name in ("toytf_words.js", "toytf_numbers.js") or "words" in path.parts:
            data = json.dumps(toytf_numbers.unpacked(data.decode("utf-8")), ensure_ascii=False).encode()
        for secret in SECRETS:
            if secret.encode() in data:
                found[secret].add(path.name)
    return found


def test_without_solutions_no_file_holds_anything_of_one(book):
    site = book / "_build" / "html"
    with_solutions = sitecheck.build(book, book)
    assert with_solutions.returncode == 0, with_solutions.stdout
    found = given_away(site)
    assert [secret for secret, files in found.items() if not files] == []  # each of them can be seen
    assert found["zanzibar"] == {"09_norms.html", "09_norms.ipynb", *WORDS, "toytf_numbers.js"}
    assert "objects.inv" in found["sol-09-1"]
    without = sitecheck.build(book, book, TOYTF_SOLUTIONS="no")  # where the other one stood
    assert without.returncode == 0, without.stdout
    assert {secret: files for secret, files in given_away(site).items() if files} == {}
    assert sitecheck.link_problems(site) == []
    for path in (site / f"{CHAPTER}.html", site / "_sources" / f"{CHAPTER}.ipynb"):
        said = path.read_text("utf-8")
        assert "One row" in said and "Normalise it openly." in said and "openly" in said.split("Normalise it")[1]


def test_a_setting_of_another_kind_is_an_error(book):
    result = sitecheck.build(book, book, TOYTF_SOLUTIONS="maybe")
    assert result.returncode != 0
    assert 'TOYTF_SOLUTIONS: expected "yes" or "no", got "maybe"' in result.stdout
