"""Every erratum on the page has its kind and its executed check, and fits the data."""

import json

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookcheck import pages, reading

PAGE = reading.ROOT / "book" / "errata.ipynb"

# ---------------------------------------------------------------------------------------
# The book's own page


def test_every_erratum_has_a_kind_and_an_executed_check():
    nb = reading.read_notebook(PAGE)
    assert pages.errata_sections(nb)
    problems = pages.errata_problems(nb)
    assert not problems, "\n".join(problems)


def test_the_page_and_the_published_numbers_name_the_same_errata():
    data = json.loads(reading.PUBLISHED_DATA.read_text(encoding="utf-8"))
    toc = (reading.ROOT / "_toc.yml").read_text(encoding="utf-8")
    problems = pages.erratum_data_problems(reading.read_notebook(PAGE), data, toc)
    assert not problems, "\n".join(problems)


# ---------------------------------------------------------------------------------------
# Planted mistakes

TOC = "  - file: notebooks/03_positions\n"


def data(**changes):
    """The data that fit the page; E0-40 belongs to a chapter that is not written."""
    errata = {
        "E0-02": {"title": "the row for World", "chapter": "03"},
        "E0-07": {"title": "a word", "chapter": "03"},
        "E0-40": {"title": "an output", "chapter": "09"},
    }
    entries = [
        {"id": "s0-pe", "chapter": "03", "erratum": ["E0-02"], "see": ["E0-07"]},
        {"id": "s0-ln", "chapter": "09", "erratum": ["E0-40", "E0-02"]},
        {"id": "s0-e", "chapter": "03"},
    ]
    return {"errata": {**errata, **changes.pop("errata", {})}, "entries": entries + changes.pop("entries", [])}


def page(first="*Kind:* error\n\nIt prints 0.99.", second="*Kind:* typo\n\n*Check:* editorial", outputs=True):
    """An errata page with one erratum that needs code and one that needs none."""
    shown = [new_output("stream", name="stdout", text="0.5403\n")] if outputs else []
    return new_notebook(
        cells=[
            new_markdown_cell("# Errata\n\nIntroduction."),
            new_markdown_cell(f"## Positions\n\n### E0-02: the row for World\n\n{first}"),
            new_code_cell("print(1)", execution_count=1, outputs=shown),
            new_markdown_cell(f"### E0-07: a word\n\n{second}\n\n## What follows"),
            new_code_cell("x = 1", execution_count=2),
        ]
    )


def test_a_good_page_passes():
    assert pages.errata_problems(page()) == []
    assert pages.erratum_data_problems(page(), data(), TOC) == []


@pytest.mark.parametrize("kind", pages.KINDS)
def test_the_kinds_are_the_ones_that_the_page_explains(kind):
    assert pages.errata_problems(page(first=f"*Kind:* {kind}")) == []


def test_a_fact_needs_no_code():
    assert pages.errata_problems(page(second="*Kind:* error\n\n*Check:* a fact")) == []


@pytest.mark.parametrize(
    ("planted", "message"),
    [
        (page(first="It prints 0.99."), "E0-02 has no line «*Kind:*"),
        (page(first="*Kind:* mistake"), "E0-02 has no line «*Kind:*"),
        (page(outputs=False), "E0-02 has no check"),
        (page(second="*Kind:* typo"), "E0-07 has no check"),
        (
            page(second="*Kind:* typo\n\n*Check:* editorial\n\n### E0-02: again\n\n*Kind:* typo\n\n*Check:* a fact"),
            "E0-02 stands twice",
        ),
    ],
)
def test_a_planted_mistake_on_the_page_is_caught(planted, message):
    problems = pages.errata_problems(planted)
    assert len(problems) == 1
    assert problems[0].startswith(message)


def test_code_after_the_next_heading_is_no_check():
    """The last cell of the page stands under another heading, so it proves nothing."""
    nb = page(second="*Kind:* typo")
    nb.cells[-1].outputs = [new_output("stream", name="stdout", text="1\n")]
    assert pages.errata_problems(nb)


@pytest.mark.parametrize(
    ("planted", "message"),
    [
        (data(entries=[{"id": "s0-k", "chapter": "03", "see": ["E0-99"]}]), "E0-99 is named by s0-k and is no known"),
        (data(entries=[{"id": "s0-k", "chapter": "03", "erratum": ["E0-40"]}]), "E0-40 belongs to a written chapter"),
        (data(errata={"E0-03": {"title": "cos(0.01)", "chapter": "03"}}), "E0-03 belongs to a written chapter"),
        (data(errata={"E0-02": {"title": "the row of World", "chapter": "03"}}), "E0-02 is «the row for World» on"),
    ],
)
def test_an_unknown_missing_or_renamed_erratum_is_caught(planted, message):
    problems = pages.erratum_data_problems(page(), planted, TOC)
    assert len(problems) == 1
    assert problems[0].startswith(message)


def test_an_erratum_that_only_the_page_knows_is_caught():
    less = data()
    del less["errata"]["E0-07"]
    less["entries"][0]["see"] = []
    problems = pages.erratum_data_problems(page(), less, TOC)
    assert problems == ["E0-07 is on the page and not in published.json"]
