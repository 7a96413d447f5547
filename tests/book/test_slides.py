"""What becomes a slide, of a small chapter, and how slides work; with_products/test_whole_book.py has all of them."""

import re

import pypdf
import pytest

import sitecheck
import slides as made_by
from pages import FormError, soup
from slides import deck, plain
from test_forms import small_site

MATH = '<span class="math"><math><mi>x</mi><annotation>x</annotation></math></span>'
PANEL = '<div id="panel-{0}" class="byhand"><div class="byhand-parts"><table>{1}</table></div></div>'
FIRST = """<p>Words. <strong>Why a root?</strong> <strong>You need</strong> chapter 4.
<strong>Afterwards</strong> you can derive it.</p>"""


def cell(output="", code="", tag=""):
    folded = '<div class="cell_input more-code"><pre>plot.spine()</pre></div>'
    shown = f'<div class="cell_input"><pre>{code}</pre></div>' if code else folded
    return f'<div class="cell {tag}">{shown}<div class="cell_output">{output}</div></div>'


def printed(text):
    return f'<div class="output stream"><pre>{text}\n</pre></div>'


def figure(title):
    return f'<figure class="toytf-figure"><figcaption>{title}</figcaption><div role="img"><svg></svg></div></figure>'


def panel(number, rows=2):
    return f'<div class="output text_html">{PANEL.format(number, "<tr><td>1</td><td>2</td></tr>" * rows)}</div>'


def chapter(body="", id="sums", title="Sums", first=FIRST):
    link = f'<a class="headerlink" href="#{id}">¶</a>'
    section = f'<section id="{id}"><h2>{title}{link}</h2>{body}</section>' if body else ""
    return soup(f'<section id="roots"><h1><span>5. </span>Roots</h1>{first}{section}</section>').section


def slides(body):
    """The slides of a section with this body."""
    return deck(chapter(body))[1:]


@pytest.mark.parametrize(
    "text, parts",
    [
        ("One thing. Another thing.", ["One thing.", "Another thing."]),
        (f"It is {MATH}. Then {MATH} grows.", ["It is ∎.", "Then ∎ grows."]),
        ("<strong>It forgets.</strong> Add a number.", ["It forgets.", "Add a number."]),
        ("See <em>World</em>. <em>Hello</em> asks.", ["See World.", "Hello asks."]),
        ("“Quoted.” After it.", ["“Quoted.”", "After it."]),
        ("Here 0.5 stays, e.g. whole.", ["Here 0.5 stays, e.g. whole."]),
        ("(One in brackets. Two in brackets.) Three.", ["(One in brackets. Two in brackets.)", "Three."]),
        ("a &lt; b. Next &amp; last.", ["a < b.", "Next & last."]),
    ],
)
def test_a_paragraph_is_parted_between_sentences_and_nowhere_else(text, parts):
    found = made_by.sentences(soup(f"<p>{text}</p>").p)
    assert [plain(one) for one in found] == parts


def test_a_sentence_that_begins_with_this_brings_the_one_before_or_does_not_come():
    before, this = "The root divides.", "This keeps the scores small."
    *_, one = slides(f"<p>A heading's own.</p><p>{before} {this}</p>{cell(panel(1))}")
    assert plain(one.lead) == f"{before} {this}"
    *_, one = slides(f"<p>A heading's own.</p><p>{'Word ' * 38}. {this}</p>{cell(panel(1))}")
    assert one.lead == "" and this in one.notes[0]


def test_the_title_has_the_question_and_what_one_can_do_afterwards():
    (title,) = deck(chapter())
    assert (title.kind, plain(title.title), plain(title.lead)) == ("title", "5. Roots", "Why a root?")
    assert plain(title.show) == "You need chapter 4.Afterwards you can derive it."
    with pytest.raises(FormError, match="roots: expected a question in bold on the first screen, found none"):
        deck(chapter(first="<p>Nothing.</p>"))


def test_each_thing_has_a_slide_and_nothing_is_shown_twice():
    made = slides(
        f"<p>Scores grow. How far? By the root.</p>{cell(figure('Wider is larger'))}<p>Now the root.</p>"
        f"{cell(panel(1))}{cell(panel(2))}<p>A <strong>gap</strong> has a name.</p>"
        "<p><strong>So that is why it is a root.</strong></p>"
        "<p><strong>What goes wrong.</strong> Forget the root and all is shut.</p>"
    )
    assert [(one.kind, one.title, one.where, plain(one.lead)) for one in made] == [
        ("section", "Sums", "", "Scores grow. How far?"),
        ("figure", "Wider is larger", "Sums", "By the root."),
        ("panel", "", "Sums", "Now the root."),
        ("panel", "", "Sums", ""),
        ("said", "", "Sums", "So that is why it is a root."),
        ("said", "", "Sums", "What goes wrong. Forget the root and all is shut."),
    ]
    assert made[0].id == "sums" and "figcaption" not in made[1].show and "plot.spine" not in made[1].show
    notes = [plain(note) for one in made for note in one.notes]
    assert len(notes) == 5 and notes[0].startswith("Scores grow."), "every paragraph, once"


def test_a_heading_whose_sentence_leads_to_a_panel_shares_its_slide():
    (one,) = slides(f"<p>Add all rows:</p>{cell(panel(1))}")
    assert (one.kind, one.title, plain(one.lead), one.id) == ("panel", "Sums", "Add all rows:", "sums")


def test_a_section_that_only_holds_others_is_named_above_their_slides():
    (one,) = slides(f'<section id="deep"><h3>Deep</h3><p>Add all rows:</p>{cell(panel(1))}</section>')
    assert (one.title, one.where) == ("Deep", "Sums")


def test_code_that_only_prepares_stays_on_the_page_and_no_line_is_lost_of_other_code():
    long = "def f(x):\n" + "\n\n".join(f"    y = {i}" for i in range(30))
    made = slides("<p>Begin with a long walk.</p>" + cell(code="rows = []") + cell(code=long))
    assert [one.kind for one in made] == ["code"]
    assert soup(made[0].show).get_text().split() == long.split()
    assert plain(slides("<p>Print:</p>" + cell(printed("2.7183"), code="print(e)"))[0].show) == "print(e)2.7183"
    assert slides("<p>Begin.</p>" + cell(code="def f(): 1", tag="tag_hide-cell"))[0].show == ""


EXERCISE = """<div class="exercise admonition" id="ex-05-{0}">
<p class="admonition-title"><span>Exercise 5.{0}: </span>Halve it</p>
<section><p class="exercise-about"><em>{1}, 5 min</em></p><p>What is half of 5? (<a href="#sums">Sums</a>)</p>
<p>Check it with <code>check.byhand</code>.</p></section></div><details class="solution">The answer is 2.5.</details>"""


def test_short_exercises_by_hand_stand_at_the_end_without_check_and_solution():
    body = EXERCISE.format(1, "By hand, level 1") + EXERCISE.format(2, "Code, level 1")
    _, exercise = made = deck(chapter(body, "exercises", "Exercises"))
    assert plain(exercise.title) == "Exercise 5.1: Halve it" and plain(exercise.show) == "What is half of 5?"
    assert "2.5" not in str(made)


# ---------------------------------------------------------------- in a browser

ROWS = "".join(f"<tr><td>row {i}</td></tr>" for i in range(60))
TABLE = f'<div class="table-wrapper"><table><thead><tr><th>what</th></tr></thead><tbody>{ROWS}</tbody></table></div>'
DEEP = f"""<section id="deep"><h2>Deep</h2><p>All rows:</p>{TABLE}<p>Touch <a href="#roots">the title</a>,
<a href="#nowhere">lost</a>, or <a href="../book/first.html">the first page</a>:</p>{cell(panel(1))}
<p>A <input> to fill in.</p><blockquote><strong>And this is what it says.</strong></blockquote></section>"""


@pytest.fixture
def opened(browser, tmp_path):
    """A deck of the small site, from the disk; at the end nothing was missing and nothing complained."""
    site = small_site(tmp_path, f'<section id="roots"><h1>2. Roots</h1>{FIRST}{DEEP}</section>')
    made_by.make(site, tmp_path, tmp_path)
    with sitecheck.open_page(browser, tmp_path.as_uri(), "slides/02_second.html", height=720) as (page, problems):
        page.wait_for_selector("html[data-fitted]", state="attached")
        yield page
    assert problems == []


def on(page, kind):
    """Wait until a slide of this kind fills the screen; returns its number."""
    page.wait_for_function(
        "kind => [...document.querySelectorAll('.slide')].some(one => one.matches(`.of-${kind}`)"
        " && Math.abs(one.getBoundingClientRect().top) < 2 && location.hash === `#${one.id}`)", arg=kind
    )  # fmt: skip
    return page.evaluate("[...document.querySelectorAll('.slide')].findIndex(one => `#${one.id}` === location.hash)")


def test_a_long_table_is_parted_with_its_head_above_each_part_and_all_fits(opened):
    tables = opened.locator(".of-table").all_inner_texts()
    assert len(tables) > 2 and all("what" in one for one in tables)
    assert re.findall(r"row (\d+)", " ".join(tables)) == [str(i) for i in range(60)]
    over = "[...document.querySelectorAll('.show')].map(one => one.scrollHeight - one.clientHeight)"
    assert max(opened.evaluate(over)) <= 1


def test_keys_move_slides_unless_something_is_touched_and_a_remote_always_does(opened):
    first = on(opened, "title")
    opened.keyboard.press("ArrowRight")
    assert on(opened, "table") == first + 1
    opened.keyboard.press("End")
    last = on(opened, "said")
    opened.locator(".lead a").first.evaluate("one => one.focus({ preventScroll: true })")
    opened.keyboard.press("ArrowLeft")
    opened.keyboard.press("PageUp")
    assert on(opened, "panel") == last - 1, "one step back, not two"
    opened.keyboard.press("d")
    assert opened.evaluate("document.body.dataset.theme") == "dark"
    opened.keyboard.press("Escape")
    opened.locator(".slide").first.click()
    assert on(opened, "title") == first, "chosen among all of them"


def test_notes_have_a_window_of_their_own(opened):
    with opened.expect_popup() as popup:
        opened.keyboard.press("s")
    assert "Words. Why a root?" in popup.value.inner_text("body")
    popup.value.keyboard.press("ArrowRight")
    on(opened, "table")
    popup.value.wait_for_function("document.body.textContent.includes('All rows')")
    popup.value.close()


def test_links_lead_to_slides_and_what_is_not_here_is_words(opened):
    assert opened.locator(".lead a").evaluate_all("all => all.map(one => one.getAttribute('href'))") == [
        "02_second.html#roots"
    ]


def test_a_chapter_prints_one_slide_a_page(opened, tmp_path):
    count = opened.locator(".slide").count()
    opened.pdf(path=tmp_path / "slides.pdf", prefer_css_page_size=True)
    sheets = [sheet.extract_text() for sheet in pypdf.PdfReader(tmp_path / "slides.pdf").pages]
    assert len(sheets) == count and "Why a root?" in sheets[0] and "And this is what it says." in sheets[-1]
