"""A page that has moved leads to its new address, and what is configured wrongly is named."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from sphinx.errors import ConfigError

import sitecheck
from bookcheck import links, reading

sys.path.append(str(Path(__file__).resolve().parent.parent / "book" / "_ext"))

import toytf_moved

BOOK = sitecheck.config(Path(__file__).resolve().parent.parent)["toytf_moved"]
MOVED = {
    "old/errata": "book/published",
    "old/errata#e1-": "replay",
    "old/errata#ex-20-1": "book/published#ex-21-8",
    "old/errata#ex-20-10": "replay#ex-22-3",
    "book/published#later": "replay",
    "book/published#ex-9": "book/published#ex-7",
}


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
        context = {"metatags": '<meta charset="utf-8">'}
        toytf_moved.lead_on(app(tmp_path, MOVED), page, "page.html", context, doctree=page)
        text = f"<!doctype html>{context['metatags']}<title>{page}</title>"
        (tmp_path / f"{page}.html").write_text(text, encoding="utf-8")
    toytf_moved.write_pages(app(tmp_path, MOVED), None)
    return tmp_path


@pytest.mark.parametrize(
    ("fragment", "leads_to"),
    [
        ("", "book/published.html"),
        ("#e1-04-five", "replay.html#e1-04-five"),
        ("#x", "book/published.html#x"),
        ("#ex-20-1", "book/published.html#ex-21-8"),
        ("#ex-20-10", "replay.html#ex-22-3"),
    ],
)
def test_an_old_address_leads_to_the_new_one_with_its_fragment(browser, site, fragment, leads_to):
    page = browser.new_page()
    page.goto(f"{site.as_uri()}/old/errata.html{fragment}")
    page.wait_for_url(f"{site.as_uri()}/{leads_to}")
    page.close()


@pytest.mark.parametrize(
    ("fragment", "leads_to"),
    [
        ("#later-still", "replay.html#later-still"),
        ("#ex-9", "book/published.html#ex-7"),
        ("#else", "book/published.html#else"),
    ],
)
def test_a_page_that_is_still_there_leads_on_what_has_left_it(browser, site, fragment, leads_to):
    page = browser.new_page()
    page.goto(f"{site.as_uri()}/book/published.html{fragment}")
    page.wait_for_url(f"{site.as_uri()}/{leads_to}")
    page.close()


def test_a_page_that_nothing_has_left_stays_as_it_is(tmp_path):
    context = {}
    toytf_moved.lead_on(app(tmp_path, MOVED), "replay", "page.html", context, doctree="replay")
    assert context == {}


def test_an_address_cannot_end_the_script():
    parts = toytf_moved.parts_of("a", {"a#</script>": "b"})
    assert "<" not in parts and json.loads(parts) == {"#</script>": "b.html#</script>"}


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
        ({"old/errata": "book/published#x"}, "and the new page .*, got"),
        ({"old/errata#": "replay"}, "the beginning of a fragment"),
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
        ({"replay#x": "book/publisht#x"}, "expected a page of the book, got 'book/publisht#x'"),
        ({"replay": "book/published"}, "'replay' has not moved, it is there"),
        ({"old/errata#e1-": "replay"}, "expected an entry for 'old/errata' too"),
    ],
)
def test_an_entry_that_does_not_fit_the_book_is_named(tmp_path, moved, message):
    with pytest.raises(ConfigError, match=message):
        toytf_moved.write_pages(app(tmp_path, moved), None)


def test_the_pages_of_the_first_edition_have_moved():
    """Their links, in other people's pages, still lead somewhere."""
    assert {"book/errata", "book/coverage"} <= set(BOOK)


def test_the_pages_of_the_split_chapters_have_moved():
    assert {"notebooks/19_pytorch", "notebooks/20_full_size"} <= set(BOOK)


@pytest.mark.parametrize("old", [old for old in BOOK if old.startswith("notebooks/") and "#" in old])
def test_what_has_left_a_chapter_is_where_its_old_address_leads(old):
    page, _, fragment = BOOK[old].partition("#")
    text = reading.page_markdown(reading.ROOT / f"{page}.ipynb")
    fragment = fragment or old.partition("#")[2]
    if fragment.startswith(("ex-", "sol-")):
        assert f":label: {fragment}" in text
    else:
        assert fragment in links.heading_slugs(text)
