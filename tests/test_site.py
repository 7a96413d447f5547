"""The built site: every page opened in Chromium, with nobody else to talk to.

Below, mistakes are planted to see that each of these checks catches what it is for.
"""

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

import sitecheck
from sitecheck import DESKTOP, PHONE

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*sitecheck.toc_pages(ROOT), "search"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The book, built as the README says."""
    output = tmp_path_factory.mktemp("site")
    result = sitecheck.build(ROOT, output)
    assert result.returncode == 0, result.stdout
    return output / "_build" / "html"


@pytest.fixture(scope="module")
def browser():
    executable = sitecheck.chromium_or_skip()
    with sync_playwright() as playwright:
        browser = sitecheck.launch(playwright, executable)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def addresses(site):
    """Where the site is: in a sub-folder of a server, and on the disk."""
    with sitecheck.serve(site.parent.parent) as server:
        yield {"http": f"{server}/_build/html", "file": site.as_uri()}


def test_the_site_has_the_pages_of_the_contents_and_no_others(site):
    pages = {path.relative_to(site).with_suffix("").as_posix() for path in site.rglob("*.html")}
    assert pages == {*PAGES, "index"}


def test_the_front_door_leads_to_the_first_page(site):
    assert f'content="0; url={PAGES[0]}.html"' in (site / "index.html").read_text("utf-8")


def test_every_link_leads_somewhere(site):
    assert sitecheck.link_problems(site) == []


def test_chapters_are_numbered_once(site):
    for number, name in enumerate((name for name in PAGES if name.startswith("notebooks/")), 1):
        title = sitecheck.title_of(site / f"{name}.html")
        assert re.match(rf"{number}\. \D", title), title


def test_the_site_has_no_maps_and_no_script_that_sets_formulas(site):
    names = [path.name.lower() for path in site.rglob("*")]
    assert not [name for name in names if name.endswith(".map")]
    assert not [name for name in names if name.startswith("tex-") or "mathjax" in name]


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(
    "where, width, dark", [("http", PHONE, False), ("file", DESKTOP, True)], ids=["http-390-light", "file-1280-dark"]
)
def test_page(browser, addresses, where, width, dark, name):
    with sitecheck.open_page(browser, addresses[where], f"{name}.html", width, dark) as (page, problems):
        problems += sitecheck.page_problems(page)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("where", ["http", "file"])
def test_search_finds_what_is_typed(browser, addresses, where):
    with sitecheck.open_page(browser, addresses[where], "search.html") as (page, problems):
        assert any("Transformer" in hit for hit in sitecheck.search_hits(page, "transformer"))
    assert not problems, "\n".join(problems)


def test_written_out_arithmetic_is_printed_though_closed(site, browser, addresses):
    entries = {name: (site / f"{name}.html").read_text("utf-8").count("byhand-sums") for name in PAGES}
    longest = max(entries, key=entries.get)
    with sitecheck.open_page(browser, addresses["file"], f"{longest}.html") as (page, _):
        assert page.locator(".byhand details:not([open])").count() > 0
        assert sitecheck.print_problems(page) == []


# --- Planted mistakes ---------------------------------------------------------------------------

PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9"/></svg>'
FIRST = """# First

A formula $x^2$, a [link](second.md#there) and

![A black corner](corner.svg)
"""


def write_small_book(folder, first=FIRST):
    """Two pages with the real book's configuration, extension and styles."""
    folder.mkdir()
    shutil.copy(ROOT / "_config.yml", folder)
    for name in ("_ext", "_assets", "_templates"):
        shutil.copytree(ROOT / "book" / name, folder / "book" / name)
    (folder / "_toc.yml").write_text("format: jb-book\nroot: first\nparts:\n- chapters:\n  - file: second\n", "utf-8")
    (folder / "first.md").write_text(first, "utf-8")
    (folder / "second.md").write_text("# Second\n\n## There\n\nText.\n", "utf-8")
    (folder / "corner.svg").write_text(PICTURE, "utf-8")
    return folder


@pytest.fixture(scope="module")
def small_site(tmp_path_factory):
    folder = write_small_book(tmp_path_factory.mktemp("small") / "book")
    result = sitecheck.build(folder, folder)
    assert result.returncode == 0, result.stdout
    return folder / "_build" / "html"


@pytest.mark.parametrize(
    "right, wrong, message",
    [
        ("second.md#there", "second.md#nowhere", "nowhere"),
        ("second.md#there", "third.md", "third.md"),
        ("corner.svg", "lost.svg", "lost.svg"),
    ],
)
def test_a_broken_reference_fails_the_build(tmp_path, right, wrong, message):
    folder = write_small_book(tmp_path / "book", FIRST.replace(right, wrong))
    result = sitecheck.build(folder, folder)
    assert result.returncode != 0
    assert message in result.stdout


def plant(small_site, right, wrong):
    """A copy of the first page, beside it, with something replaced; its file name."""
    html = (small_site / "first.html").read_text("utf-8")
    assert right in html
    (small_site / "planted.html").write_text(html.replace(right, wrong, 1), "utf-8")
    return "planted.html"


def problems_of(browser, small_site, name):
    """What the real tests would report."""
    with sitecheck.open_page(browser, small_site.as_uri(), name, PHONE) as (page, problems):
        problems += sitecheck.page_problems(page)
    return problems


def test_nothing_is_reported_where_nothing_is_planted(browser, small_site):
    assert problems_of(browser, small_site, plant(small_site, "</article>", "</article>")) == []
    assert sitecheck.link_problems(small_site) == []


@pytest.mark.parametrize(
    "right, wrong, problem",
    [
        ("</head>", '<script src="https://example.org/a.js"></script></head>', "leaves the site"),
        ("</head>", '<link rel="stylesheet" href="//example.org/a.css"></head>', "leaves the site"),
        ("</head>", '<script src="_static/lost.js"></script></head>', "request failed"),
        ("</article>", "<script>console.error('planted')</script></article>", "console error: planted"),
        ("</article>", "<script>planted()</script></article>", "script error"),
        ('alt="A black corner"', "", "picture without a text"),
        ('alt="A black corner"', 'alt=""', "picture without a text"),
        ('alt="A black corner"', 'alt="_images/corner.svg"', "picture with a file's name"),
        ("</article>", '<svg role="img"></svg></article>', "picture without a text"),
        ("</article>", '<p style="width: 600px">wide</p></article>', "page is"),
        ("</section>", "<p>left over: $x_1$</p></section>", "formula not set: left over"),
        ("</section>", r"<p>left over: \(x_1\)</p></section>", "formula not set: left over"),
        ("<annotation", "<lost", "formula not set"),
        ("<msup>", "<merror>", "formula with an error"),
        ("formulas.css", "lost.css", "formulas without their font"),
        ("</article>", "<button></button></article>", "axe button-name"),
        ("</article>", '<p style="color: #ddd">pale</p></article>', "axe color-contrast"),
    ],
)
def test_a_planted_mistake_is_reported(browser, small_site, right, wrong, problem):
    found = problems_of(browser, small_site, plant(small_site, right, wrong))
    assert [line for line in found if problem in line], found


@pytest.mark.parametrize("anchor", ["second.html#nowhere", "third.html", "#nowhere"])
def test_a_planted_broken_link_is_reported(small_site, anchor):
    plant(small_site, "second.html#there", anchor)
    found = sitecheck.link_problems(small_site)
    assert [line for line in found if anchor in line], found


def test_arithmetic_missing_on_paper_is_reported(browser, small_site):
    name = plant(
        small_site,
        "</article>",
        '<div class="copybtn"><div class="byhand-sums"><p>1·2 + 3</p></div></div></article>',
    )
    with sitecheck.open_page(browser, small_site.as_uri(), name) as (page, _):
        assert sitecheck.print_problems(page) == ["not printed: 1·2 + 3"]


def test_without_a_browser_tests_are_skipped_but_not_in_ci(monkeypatch):
    monkeypatch.setattr(sitecheck, "find_chromium", lambda: None)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt install chromium"):
        sitecheck.chromium_or_skip()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="apt install chromium"):
        sitecheck.chromium_or_skip()


def test_a_picture_that_takes_its_colours_from_the_page_stands_in_it(site):
    page = (site / "book" / "architecture.html").read_text("utf-8")
    assert 'class="house"' in page and 'src="../_images/architecture.svg"' not in page
