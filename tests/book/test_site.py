"""The built site: every page opened in Chromium, with nobody else to talk to.

Below, mistakes are planted to see that each of these checks catches what it is for.
"""

import html
import re

import pytest

import sitecheck
from replays.ledger import Source
from sitecheck import CONTENTS, DESKTOP, FIRST, OF_PACKAGE, PHONE, ROOT, write_small_book
from toytf.course.chapters import WAYS, outline

PAGES = [*(page for page in CONTENTS if page not in OF_PACKAGE), "search"]
# All are made alike of docstrings: the longest is opened, and the one that a directive of ours writes.
OPENED = [*PAGES, "book/api/byhand", "book/api/check"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The book, built as the README says."""
    output = tmp_path_factory.mktemp("site")
    result = sitecheck.build(ROOT, output)
    assert result.returncode == 0, result.stdout
    return output / "_build" / "html"


@pytest.fixture(scope="module")
def addresses(site):
    """Where the site is: in a sub-folder of a server, and on the disk."""
    with sitecheck.serve(site.parent.parent) as server:
        yield {"http": f"{server}/_build/html", "file": site.as_uri()}


def test_the_site_has_the_pages_of_the_contents_and_no_others(site):
    pages = {path.relative_to(site).with_suffix("").as_posix() for path in site.rglob("*.html")}
    assert pages == {*PAGES, *OF_PACKAGE, "index"}


@pytest.fixture(scope="module")
def pages(site):
    """The HTML of each page by its name."""
    return {name: (site / f"{name}.html").read_text("utf-8") for name in [*PAGES, *OF_PACKAGE]}


@pytest.mark.parametrize("where", ["http", "file"])
@pytest.mark.parametrize("name", ["12_decoder", "18_taking_apart", "20_writing"])
def test_what_a_page_loads_when_touched_is_on_the_site(browser, addresses, where, name):
    with sitecheck.open_page(browser, addresses[where], f"notebooks/{name}.html") as (page, problems):
        one = page.locator("[data-later]").first
        one.locator(".live-title").click()
        page.wait_for_function("one => !one.still || one.complaint.textContent", arg=one.element_handle())
        problems += page.get_by_text("could not be loaded").all_inner_texts()
    assert not problems, "\n".join(problems)


def test_each_page_says_what_it_is_about(pages):
    said = [
        html.unescape(re.findall(r'<meta name="description" content="([^"]*)">', pages[name])[0]) for name in PAGES[:-1]
    ]
    assert all(40 < len(about) <= 200 for about in said) and len(set(said)) == len(said)


def test_a_number_a_sign_and_a_number_stand_on_one_line(pages):
    for name, text in pages.items():
        for line in re.findall(r"<p>([^<]*)", text):
            assert not re.search(r"\d × \d|\d %|[Cc]hapter \d", line), f"{name}: {line}"
    assert "In: 2\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}4." in html.unescape(pages["notebooks/01_overview"])


def test_without_an_address_the_site_names_none(site, pages):
    """Nor does it have what only an address makes useful; test_site_address.py builds one with an address."""
    made_for_others = ("sitemap.xml", "robots.txt", "404.html", ".nojekyll")
    assert not [name for name in made_for_others if (site / name).exists()] + list(site.glob("*.whl"))
    elsewhere = r'rel="canonical"|og:url|og:image|twitter:|colab\.research|mybinder\.org|/issues/new'
    assert not [name for name, page in pages.items() if re.search(elsewhere, page) or "MIT. Version " not in page]


def test_every_link_leads_somewhere_and_nothing_is_fetched_from_elsewhere(site, pages):
    assert sitecheck.link_problems(site) == []
    assert sitecheck.address_problems(site) == []
    assert [name for name, page in pages.items() if str(ROOT) in page] == []  # nor is the machine named


def test_each_source_is_linked_from_the_references_and_from_its_replay(site):
    named = set(re.findall(r"https://[^\s)]+", (ROOT / "NOTICE").read_text("utf-8")))
    assert len(named) == 10
    assert named == set(sitecheck.links_elsewhere(site / "book" / "references.html"))
    of_replays = {0: "/hackerllama/blog/", 1: "/illustrated-transformer/", 3: "/MorvanZhou/"}  # 2 and 4: not known
    for source, part in of_replays.items():
        leads = sitecheck.links_elsewhere(site / "book" / f"{Source(source).page}.html")
        assert part in " ".join(leads) and {link.partition("#")[0] for link in leads} <= named


def test_each_chapter_has_its_number_its_machine_and_the_next_question(pages):
    for number, (before, chapter) in enumerate(zip(PAGES, outline(), strict=False), 1):
        asked = re.findall(r'<span class="next-question">(.*?)</span>', pages[before])
        assert [html.unescape(question) for question in asked] == [chapter.question], before
        page = pages[f"notebooks/{chapter.name}"]
        assert re.search(rf"<title>{number}\. \D", page), chapter.name
        assert re.search(r'href="../book/machine.html">\s*<svg', page), chapter.name
    last = pages[PAGES[len(outline())]]
    assert 'class="next-question"' not in last and 'machine.html">\n  <svg' not in pages["book/notation"]


def test_the_index_of_numbers_and_of_words_is_loaded_by_the_search_alone(pages):
    indexes = re.compile(r"toytf_(numbers|words)\.js|searchindex|searchtools")
    assert [name for name, page in pages.items() if indexes.search(page)] == []
    assert [name for name, page in pages.items() if "toytf_search.js" in page] == ["search"]


def test_the_sum_of_an_entry_is_not_cut_off(browser, addresses):
    """It lies over what follows, so no box around its panel may clip it; where the products stand line by line it is
    only read aloud.
    """
    path = "notebooks/13_words_come_out.html"
    with sitecheck.open_page(browser, addresses["http"], path, PHONE) as (page, problems):
        page.locator(".byhand-result[role=grid]").first.wait_for()
        cut = page.evaluate("""() => {
            const cut = [], seen = []
            for (const grid of document.querySelectorAll(".byhand-result[role=grid]")) {
                const entry = [...grid.querySelectorAll("tbody td[tabindex]")].at(-1)
                if (!entry.checkVisibility()) continue
                entry.scrollIntoView({ block: "center", behavior: "instant" })
                entry.focus({ preventScroll: true })
                const live = grid.closest(".byhand").querySelector(".byhand-live").getBoundingClientRect()
                if (live.width < 30) continue
                seen.push(entry)
                const at = document.elementFromPoint(live.left + 9, live.bottom - 4)
                if (!at || !at.closest(".byhand-live")) cut.push(entry.textContent)
            }
            return seen.length ? cut : ["none seen"]
        }""")
    assert not problems
    assert cut == []


@pytest.mark.parametrize("name", OPENED)
@pytest.mark.parametrize(
    "where, width, dark", [("http", PHONE, False), ("file", DESKTOP, True)], ids=["http-390-light", "file-1280-dark"]
)
def test_page(browser, addresses, where, width, dark, name):
    with sitecheck.open_page(browser, addresses[where], f"{name}.html", width, dark) as (page, problems):
        problems += sitecheck.page_problems(page)
    assert not problems, "\n".join(problems)


# Chapters and pages are named by what they are about: their word leads to them first.
FIRST_FOUND = {
    "softmax": "5. ",
    "masks": "11. ",
    "loss": "14. ",
    "heads": "6. ",
    "PyTorch": "21. ",
    "words": "2. ",
    "glossary": "Glossary",
    "cross-attention": "12. ",
    "cross attention": "12. ",
    "layer norm": "9. ",
    "multihead": "6. ",
    "dropout": ("10. ", "16. ", "21. "),
}


def test_a_word_of_a_title_finds_its_page_first(browser, addresses):
    found = {}
    for word in FIRST_FOUND:
        with sitecheck.open_page(browser, addresses["file"], f"search.html?q={word}") as (page, _):
            hit = page.locator("#search-results ul.search li a").first
            hit.wait_for()
            found[word] = hit.inner_text()
    wrong = {word: hit for word, hit in found.items() if not hit.startswith(FIRST_FOUND[word])}
    assert not wrong


@pytest.mark.parametrize("where", ["http", "file"])
@pytest.mark.parametrize("query", ["softmax", "attention", "8,896"])
def test_a_search_costs_less_than_300_kb_and_shows_where_it_is_said(browser, addresses, where, query):
    got = {}
    with sitecheck.open_page(browser, addresses[where], "search.html", PHONE) as (page, problems):
        page.on("response", lambda response: got.setdefault(response.url, response))
        page.goto(f"{page.url}?q={query}")
        page.locator("#search-results li").first.wait_for()
        page.wait_for_load_state("networkidle")
        assert sum(len(response.body()) for response in got.values()) < 300_000
        said = page.locator("#search-results p.context, .number-found").all_inner_texts()
        assert len(said) > 9 and not [one for one in said if re.search(r"\bimport\b|np\.", one)]
        assert all(query.replace(",", "") in one.lower().replace(",", "") for one in said[:3])
        problems += sitecheck.page_problems(page)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(("typed", "meant"), [("sofmax", "softmax"), ("cross-atention", "cross attention")])
def test_a_misspelt_word_is_suggested(browser, addresses, typed, meant):
    with sitecheck.open_page(browser, addresses["file"], f"search.html?q={typed}") as (page, problems):
        page.get_by_role("link", name=meant, exact=True).press("Enter")
        page.locator("#search-results mark").first.wait_for()
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("where", ["http", "file"])
def test_a_number_finds_each_step_that_prints_it(browser, addresses, where):
    with sitecheck.open_page(browser, addresses[where], "search.html") as (page, problems):
        hits = sitecheck.number_hits(page, "0.2244")
        assert any("[Hello, Hello] = 0.2244" in hit for hit in hits), hits
        titles = page.locator("#search-results h3").all_inner_texts()
        assert titles[0].startswith("4. ") and len(titles) >= 2
        page.locator("#search-results li a").first.click()
        page.wait_for_url("**/04_self_attention.html#number=0.2244*")
        page.locator(".toytf-found").wait_for()
        assert "0.2244" in page.locator(".toytf-found").inner_text()
    assert not problems, "\n".join(problems)


def test_each_line_of_the_index_is_found_again_on_its_page(browser, addresses):
    name = "notebooks/04_self_attention"
    with sitecheck.open_page(browser, addresses["file"], "search.html?q=0.5") as (page, _):
        page.wait_for_function("typeof window.toytf_numbers === 'object'")
        links = page.evaluate(
            """name => {
                const [, , ids, lines] = window.toytf_numbers.find(([address]) => address.startsWith(name));
                const counts = {};
                return lines.flatMap(([place, text]) =>
                    [...text.matchAll(/(?<![\\d."])(?<!xercise )\\d+\\.\\d+(?![\\d.]*\\d|e)/g)].map(([number]) => {
                        const key = `${place} ${number}`;
                        counts[key] = (counts[key] ?? 0) + 1;
                        return [number, `#number=${number}&in=${ids[place][0]}&nth=${counts[key]}`];
                    }));
            }""",
            name,
        )
    assert len(links) > 100
    with sitecheck.open_page(browser, addresses["file"], f"{name}.html") as (page, _):
        lost = page.evaluate(
            """async links => {
                const lost = [];
                for (const [number, link] of links) {
                    document.querySelectorAll(".toytf-found").forEach(e => e.classList.remove("toytf-found"));
                    const changed = new Promise(done => window.addEventListener("hashchange", done, { once: true }));
                    location.hash = link;
                    await changed;
                    if (!document.querySelector(".toytf-found")?.textContent.includes(number)) lost.push(link);
                }
                return lost;
            }""",
            links[::7],
        )
    assert lost == []


@pytest.mark.parametrize(
    "typed, told",
    [
        ("0.2243999", "rounded it stands in"),
        ("-0.2244", "without the sign it stands in"),
        ("0,2244", "Decimals have a point here: 0.2244"),
        ("12", "Small whole numbers stand everywhere"),
        ("8896", "8896 stands in"),
        ("8,896", "8,896 stands in"),
        ("1.2.3", "This is not a number."),
        ("987654.321", "No page prints 987654.321."),
        ("4.67695573e-10", "4.67695573e-10 stands in"),
    ],
)
def test_the_search_for_numbers_says_what_it_did(browser, addresses, typed, told):
    with sitecheck.open_page(browser, addresses["file"], "search.html") as (page, problems):
        sitecheck.number_hits(page, typed)
        assert told in page.locator("#search-results h2").inner_text()
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_the_contents_open_from_the_keyboard_and_close_when_one_turns_away(browser, addresses, width):
    with sitecheck.open_page(browser, addresses["file"], "notebooks/04_self_attention.html", width) as (page, _):
        here = page.locator(".contents .current-page > a")
        assert not here.is_visible()
        page.locator(".contents > summary").focus()
        for away in ("Space", "Escape"):
            page.keyboard.press("Enter")
            assert here.is_visible() and here.inner_text().startswith("4.")
            assert page.locator(".contents .on-page a[href='#exercises']").is_visible()
            page.keyboard.press(away)
            assert not here.is_visible()
        if width == DESKTOP:  # on a phone nothing else is in sight
            page.locator(".contents > summary").click()
            page.mouse.click(10, page.evaluate("innerHeight") - 10)
            assert not here.is_visible()


def test_a_chapter_shows_its_strip_its_question_its_sections_and_what_can_be_taken_away(browser, addresses):
    with sitecheck.open_page(browser, addresses["file"], "notebooks/04_self_attention.html") as (page, _):
        here = page.locator(".strip .here")
        assert here.locator("b").inner_text() == "self-attention" and here.locator("a").all_inner_texts() == [*"456"]
        assert here.locator("a[aria-current]").inner_text() == "4"
        question, sections = (page.locator(part).bounding_box() for part in (".question", ".beside .on-page"))
        assert question["x"] + question["width"] <= sections["x"]
        sizes = "['.question', 'h1'].map((part) => parseFloat(getComputedStyle(document.querySelector(part)).fontSize))"
        large, small = page.evaluate(sizes)
        assert large > 2 * small
        assert page.locator(".prev-page").inner_text().endswith("3. Positions")
        assert page.locator("a[download]").get_attribute("href").endswith(".ipynb")
        assert page.locator(".print-page").is_visible()


def test_beside_the_text_the_sections_stay_in_sight_where_nothing_else_stands(browser, addresses):
    with sitecheck.open_page(browser, addresses["file"], "notebooks/10_encoder.html") as (page, problems):
        stay = "(stay) => (document.querySelector('.on-page.stays') !== null) === stay"
        sections = page.locator(".beside .on-page")
        for name in ("Exercises", "Shapes"):
            sections.get_by_role("link", name=name).click()
            page.wait_for_function(stay, arg=True)
            sections.locator(".here", has_text=name).wait_for()
        page.keyboard.press("Home")
        page.wait_for_function(stay, arg=False)
        assert not problems


def test_the_strip_leads_to_every_chapter_of_its_way_and_to_the_map(pages):
    for way in WAYS:
        for station, numbers in way.items():
            page = pages[PAGES[numbers[0]]]  # the first one is the first page
            wire = re.search(r'<nav class="strip".*?<ol>(.*?)</ol>', page, re.DOTALL)[1]
            assert f"<b>{html.escape(station)}</b>" in wire and '"../book/map.html">the map' in wire
            assert len(re.findall("<li", wire)) == len(way) + 2  # the map and the other way
            assert ("chapters 1–16" in wire) is (numbers[0] > 16) is ("chapters 17–23" not in wire)
    assert '<nav class="strip"' not in pages["book/preface"] + pages["book/map"]


def test_one_switch_shows_all_code_and_the_browser_remembers_it(browser, addresses):
    with sitecheck.open_page(browser, addresses["http"], "notebooks/04_self_attention.html") as (page, problems):
        code, switch = page.locator(".more-code").first, page.locator(".code-switch")
        assert not code.is_visible() and switch.get_attribute("aria-checked") == "false"
        switch.click()
        assert code.is_visible() and switch.get_attribute("aria-checked") == "true"
        page.reload()
        assert page.locator(".more-code").first.is_visible()
        assert page.locator(".code-switch").get_attribute("aria-checked") == "true"
        page.locator(".code-switch").click()
        assert not page.locator(".more-code").first.is_visible()
    assert not problems


def test_without_a_script_all_code_is_there_and_nothing_that_only_a_script_can_do(browser, addresses):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{addresses['file']}/notebooks/04_self_attention.html")
    assert page.locator(".more-code").first.is_visible()
    assert not page.locator(":is(.code-switch, .theme-toggle, .print-page)").filter(visible=True).count()
    context.close()


MOST_FOLDS = 6


def folds(html):
    """What hides something before the exercises of a page: not the sums of a panel, which are one."""
    article = re.search(r"<article.*?(?=<section id=\"exercises\"|</article>)", html, re.DOTALL)[0]
    return re.findall(r'<details(?! class="byhand-sums)[^>]*>', article)


def test_a_chapter_hides_at_most_six_things_before_its_exercises(pages):
    counts = {name: len(folds(page)) for name, page in pages.items() if name.startswith("notebooks/")}
    assert {name: count for name, count in counts.items() if count > MOST_FOLDS} == {}
    assert sum(counts.values()) > 9, "folds are found"
    one = '<article><details class="byhand-sums"></details><details class="dropdown admonition" id="a"></details>'
    assert len(folds(f'{one}<section id="exercises"><details></details></section></article>')) == 1


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_a_link_leads_to_its_section_however_far_it_is(browser, addresses, width):
    name, top = "notebooks/15_gradients.html", "document.querySelector('#exercises').getBoundingClientRect().top"
    with sitecheck.open_page(browser, addresses["file"], f"{name}#exercises", width) as (page, _):
        sitecheck.still(page)
        assert 0 <= page.evaluate(top) < 150
        page.evaluate("location.hash = ''")
        page.keyboard.press("Home")
        sitecheck.still(page)
        assert page.evaluate(top) > 1000
        page.evaluate("document.querySelector('.contents a[href=\"#exercises\"]').click()")
        sitecheck.still(page)
        assert 0 <= page.evaluate(top) < 150


def test_a_percent_sign_alone_in_the_address_breaks_nothing(browser, addresses):
    with sitecheck.open_page(browser, addresses["file"], "notebooks/03_positions.html#clocks?a=%") as (page, problems):
        page.locator("#clocks .live-complaint", has_text="a: expected one of").wait_for()
        assert not problems


def test_light_and_dark_follow_the_device_until_they_are_chosen(browser, addresses):
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    for dark in (False, True):
        with sitecheck.open_page(browser, addresses["file"], "book/preface.html", dark=dark) as (page, problems):
            first = page.evaluate(ground)
            assert (first == "rgb(252, 251, 248)") != dark
            page.locator(".theme-toggle").click()
            assert page.evaluate(ground) != first
            page.reload()
            assert page.evaluate(ground) != first
            page.emulate_media(media="print")
            assert page.evaluate(ground) == "rgb(252, 251, 248)"
        assert not problems


def test_solutions_and_notes_are_folded_without_a_script(pages):
    page = pages["notebooks/04_self_attention"]
    assert len(re.findall(r'<details class="solution[^>]*>\s*<summary', page)) == page.count('id="sol-04-')
    assert '<details class="dropdown admonition' in "".join(pages.values())
    assert not [name for name, page in pages.items() if re.search('<div class="(solution|dropdown)', page)]


def test_written_out_arithmetic_is_printed_though_closed(pages, browser, addresses):
    longest = max(pages, key=lambda name: sum(map(int, re.findall(r"All (\d+) (?:sums|entries)", pages[name]))))
    with sitecheck.open_page(browser, addresses["file"], f"{longest}.html") as (page, _):
        assert page.locator(".byhand details:not([open])").count() > 0
        assert sitecheck.print_problems(page) == []


# --- The package ---------------------------------------------------------------------------------


def test_entries_lead_to_chapters_and_chapters_to_entries(pages):
    entry = pages["book/api/ops"].split('id="toytf.ops.softmax"')[1].split('class="sig ')[0]
    assert re.search(r'class="api-chapters">Chapters: .*notebooks/05_scaling.html#[\w-]+">5</a>', entry)
    assert 'href="../book/api/ops.html#toytf.ops.softmax"' in pages["notebooks/05_scaling"]
    checker = pages["book/api/check"].split('id="toytf.check.layer_norm"')[1]
    assert re.search(r'class="api-chapters"><a [^>]*09_residual_and_layer_norm.html#ex-09-\d+"', checker)


def test_names_are_links_in_the_lessons_and_none_in_the_exercises(pages):
    """There a name is the reader's own function, and its entry would be the answer."""
    lessons, _, exercises = pages["notebooks/06_many_heads"].partition('id="exercises"')
    package = '"../book/api/'
    attention, parameters = f"{package}attention.html#toytf.attention.", f"{package}parameters.html#toytf.parameters."
    assert re.search(rf'<a class="to-api[^>]*href={attention}multi_head_attention"[^>]*><code', lessons)  # prose
    assert f'<a class="to-api" href={parameters}MultiHead"' in lessons  # code
    assert "split_heads" in exercises and "to-api" not in exercises


# --- Planted mistakes ---------------------------------------------------------------------------

CUT = (
    '<div class="cell_output"><div class="output highlight"><pre tabindex="0" style="white-space: pre">'
    + "0.25 " * 40
    + "</pre></div></div>"
)
PLAIN_LINK = '<a href="#first" style="color: #445; text-decoration: none">that lead on</a>'


@pytest.fixture(scope="module")
def small_site(tmp_path_factory):
    folder = write_small_book(tmp_path_factory.mktemp("small") / "book")
    result = sitecheck.build(folder, folder)
    assert result.returncode == 0, result.stdout
    return folder / "_build" / "html"


def test_broken_references_fail_the_build(tmp_path):
    first = FIRST + "\n[a](second.md#nowhere) [b](third.md) ![c](lost.svg)\n"
    result = sitecheck.build(write_small_book(tmp_path / "book", first), tmp_path / "book")
    assert result.returncode != 0
    assert not [name for name in ("nowhere", "third.md", "lost.svg") if name not in result.stdout]


# In the place of what, what, and the problem that is seen of it.
PLANTED = [
    ("</head>", '<script src="https://example.org/a.js"></script></head>', "leaves the site"),
    ("</head>", '<script src="_static/lost.js"></script></head>', "request failed"),
    ("</article>", "<script>console.error('planted')</script></article>", "console error: planted"),
    ("</article>", "<script>planted()</script></article>", "script error"),
    ('alt="A black corner"', 'alt="_images/corner.svg"', "picture with a file's name"),
    ("</article>", '<svg role="img"></svg></article>', "picture without a text"),
    ("</article>", '<p style="width: 600px">wide</p></article>', "page is"),
    ("</article>", CUT + "</article>", "cut, broken or out of reach"),
    ("</section>", "<p>left over: $x_1$</p></section>", "formula not set: left over"),
    ("<annotation", "<lost", "formula not set"),
    ("<msup>", "<merror>", "formula with an error"),
    ("formulas.css", "lost.css", "formulas without their font"),
    ("</article>", "<button></button></article>", "axe button-name"),
    ("</article>", "<p><pad> fills the rest</p></article>", "a word lost as a tag: <pad>"),
    ("</article>", '<p style="color: #ddd">pale</p></article>', "axe color-contrast"),
    ("</article>", f"<p>Some words {PLAIN_LINK} and more.</p></article>", "axe link-in-text-block"),
    ("</section>", f"<p style='max-width: none; font-size: 4px'>{'some words ' * 60}</p></section>", "long lines"),
    ("</article>", "<img src='https://example.org/a.png'></article>", "<img src> has an address elsewhere"),
    ("</article>", '<style>@import "//example.org/a.css";</style></article>', "a style has an address elsewhere"),
    ("</article>", '<a href="https://example.org/">a</a></article>', "a link elsewhere without rel=noopener"),
    ("second.html#there", "second.html#nowhere", "second.html#nowhere leads to no anchor"),
    ("</article>", '<a href="third.html">a</a></article>', "third.html leads to no file"),
    ("</article>", '<div class="copybtn byhand-sums"><p>1·2 + 3</p></div></article>', "not printed: 1·2 + 3"),
]


def all_problems(browser, site, name):
    with sitecheck.open_page(browser, site.as_uri(), name, PHONE) as (page, problems):
        problems += sitecheck.page_problems(page)
        problems += sitecheck.print_problems(page)
    return problems + sitecheck.link_problems(site) + sitecheck.address_problems(site)


def test_each_planted_mistake_is_reported_and_nothing_where_nothing_is_planted(browser, small_site):
    assert all_problems(browser, small_site, "first.html") == []
    page = (small_site / "first.html").read_text("utf-8")
    for right, wrong, _ in PLANTED:
        assert right in page
        page = page.replace(right, wrong, 1)
    (small_site / "planted.html").write_text(page, "utf-8")
    found = all_problems(browser, small_site, "planted.html")
    assert [problem for *_, problem in PLANTED if not any(problem in line for line in found)] == []


def test_a_picture_that_takes_its_colours_from_the_page_stands_in_it(pages):
    page = pages["book/architecture"]
    assert 'class="house"' in page and 'src="../_images/architecture.svg"' not in page
