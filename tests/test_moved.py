"""A page that has moved leads to its new address, and what is configured wrongly is named."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from sphinx.errors import ConfigError

import sitecheck

sys.path.append(str(Path(__file__).resolve().parent.parent / "book" / "_ext"))

import toytf_moved

MOVED = {"old/errata": "book/published", "old/errata#e1-": "replay"}


def app(folder, moved):
    """As much of Sphinx as the extension needs."""
    return SimpleNamespace(
        config=SimpleNamespace(toytf_moved=moved),
        builder=SimpleNamespace(format="html"),
        env=SimpleNamespace(found_docs={"book/published", "replay"}),
        outdir=str(folder),
    )


@pytest.fixture
def site(tmp_path):
    for folder in ("old", "book"):
        (tmp_path / folder).mkdir()
    for page in ("book/published", "replay"):
        (tmp_path / f"{page}.html").write_text(f"<!doctype html><title>{page}</title>", encoding="utf-8")
    toytf_moved.write_pages(app(tmp_path, MOVED), None)
    return tmp_path


@pytest.mark.parametrize(
    ("fragment", "leads_to"),
    [("", "book/published.html"), ("#e1-04-five", "replay.html#e1-04-five"), ("#x", "book/published.html#x")],
)
def test_an_old_address_leads_to_the_new_one_with_its_fragment(browser, site, fragment, leads_to):
    page = browser.new_page()
    page.goto(f"{site.as_uri()}/old/errata.html{fragment}")
    page.wait_for_url(f"{site.as_uri()}/{leads_to}")
    page.close()


def test_without_a_script_an_old_address_leads_to_the_new_page(browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site.as_uri()}/old/errata.html")
    page.wait_for_url(f"{site.as_uri()}/book/published.html")
    context.close()


@pytest.mark.parametrize(
    ("moved", "message"),
    [
        ({"old/errata": 3}, "expected an old page, .* got 'old/errata': 3"),
        ({"old/errata": "book/published#x"}, "and the new page, got"),
        ({"old/errata#": "replay"}, "the beginning of a fragment"),
        ({"old/errata#e1-": "replay"}, "expected an entry for 'old/errata' too"),
    ],
)
def test_a_wrong_entry_is_named_before_the_build(tmp_path, moved, message):
    wrong = app(tmp_path, moved)
    with pytest.raises(ConfigError, match=message):
        toytf_moved.check(wrong, wrong.config)


@pytest.mark.parametrize(
    ("moved", "message"),
    [
        ({"old/errata": "book/publisht"}, "expected a page of the book, got 'book/publisht'"),
        ({"replay": "book/published"}, "'replay' has not moved, it is there"),
    ],
)
def test_an_entry_that_does_not_fit_the_book_is_named(tmp_path, moved, message):
    with pytest.raises(ConfigError, match=message):
        toytf_moved.write_pages(app(tmp_path, moved), None)


def test_the_pages_of_the_first_edition_have_moved():
    """Their links, in other people's pages, still lead somewhere."""
    moved = sitecheck.config(Path(__file__).resolve().parent.parent)["toytf_moved"]
    assert {"book/errata", "book/coverage"} <= set(moved)
