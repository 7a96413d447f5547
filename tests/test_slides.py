"""What becomes a slide, of a small chapter; and what `make slides` says when something is missing.

All slides of the book are measured in tests/with_products/test_slides.py.
"""

import io
import re
import shutil
import tarfile

import pytest
from bs4 import BeautifulSoup

import deck
import make_slides
import npm
from deck import SlidesError, plain

MATH = '<span class="math"><math><mi>x</mi><annotation>x</annotation></math></span>'
PANEL = '<div id="panel-{0}" class="byhand s44"><div class="byhand-parts"><table>{1}</table></div></div>'
FOLDED = '<details class="admonition hide"><summary>Code</summary><pre>plot.spine()</pre></details>'


def cell(output="", code="", tag=""):
    shown = f'<div class="cell_input"><pre>{code}</pre></div>' if code else FOLDED
    made = f'<div class="cell_output">{output}</div>' if output else ""
    return f'<div class="cell {tag}">{shown}{made}</div>'


def printed(text):
    return f'<div class="output stream"><pre>{text}\n</pre></div>'


def figure(title):
    return f'<figure class="toytf-figure"><figcaption>{title}</figcaption><div role="img"><svg></svg></div></figure>'


def panel(number, rows=2, wrap="{}"):
    inner = PANEL.format(number, "<tr><td>1</td><td>2</td></tr>" * rows)
    return f'<div class="output text_html">{wrap.format(inner)}</div>'


FIRST = """<p>Words. <strong>Why a root?</strong> <strong>You need</strong> chapter 4.
<strong>Afterwards</strong> you can derive it.</p>"""


def page(sections="", first=FIRST):
    return f'<article><section id="roots"><h1><span>5. </span>Roots</h1>{first}{sections}</section></article>'


def section(body, id="sums", title="Sums"):
    link = f'<a class="headerlink" href="#{id}">¶</a>'
    return f'<section id="{id}"><h2>{title}{link}</h2>{body}</section>'


def slides(body, **options):
    """The slides of a section with this body."""
    made = deck.deck("05", page(section(body, **options)))
    return [slide for column in made.columns[1:] for slide in column]


def kinds(some):
    return [slide.kind for slide in some]


# ---------------------------------------------------------------- sentences


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
    paragraph = BeautifulSoup(f"<p>{text}</p>", "html.parser").p
    found = deck.sentences(paragraph)
    assert [one.text for one in found] == parts
    again = BeautifulSoup(" ".join(one.html for one in found), "html.parser")
    assert again.get_text().split() == paragraph.get_text().split()


def test_a_sentence_that_begins_with_this_brings_the_one_before_or_does_not_come():
    before, this = "The root divides.", "This keeps the scores small."
    panels = cell(panel(1))
    (_, one) = slides(f"<p>A heading's own.</p><p>{before} {this}</p>{panels}")
    assert plain(one.lead) == f"{before} {this}"
    (_, one) = slides(f"<p>A heading's own.</p><p>{'Word ' * 38}. {this}</p>{panels}")
    assert one.lead == "" and this in "".join(one.notes) + "".join(_.notes)


# ---------------------------------------------------------------- the rule


def test_the_title_has_the_question_and_what_one_can_do_afterwards():
    made = deck.deck("05", page())
    (title,) = made.columns[0]
    assert (title.kind, made.question) == ("title", "Why a root?")
    assert plain(title.title) == "5. Roots" and plain(title.lead) == "Why a root?"
    assert plain(title.show) == "You need chapter 4.Afterwards you can derive it."


def test_a_page_without_a_question_or_an_article_is_named():
    with pytest.raises(SlidesError, match="05: expected a question in bold on the first screen, found none"):
        deck.deck("05", page(first="<p>Nothing.</p>"))
    with pytest.raises(SlidesError, match="05: expected an <article>, found none"):
        deck.deck("05", "<p>words</p>")


def test_a_heading_asks_its_question_and_a_figure_has_its_message_as_title():
    head, one = slides(f"<p>Scores grow. How far? By the root.</p>{cell(figure('Wider is larger'))}")
    assert (head.kind, head.title, head.id) == ("section", "Sums", "sums")
    assert plain(head.lead) == "Scores grow. How far?"
    assert (one.kind, one.title, one.where, plain(one.lead)) == ("figure", "Wider is larger", "Sums", "By the root.")
    assert "figcaption" not in one.show and "plot.spine" not in one.show


def test_a_heading_whose_sentence_leads_to_a_panel_shares_its_slide():
    (one,) = slides(f"<p>Add all rows:</p>{cell(panel(1))}")
    assert (one.kind, one.title, plain(one.lead), one.where) == ("panel", "Sums", "Add all rows:", "")
    assert 'id="panel-1"' in one.show


def test_no_title_and_no_sentence_stands_twice():
    made = slides(
        f"<p>Scores grow.</p>{cell(figure('One'))}<p>Now the root.</p>{cell(panel(1))}{cell(panel(2))}"
        "<p><strong>So that is why it is a root.</strong></p>"
    )
    shown = [text for slide in made for text in (slide.title, slide.lead) if text]
    assert len(shown) == len(set(shown))
    assert kinds(made) == ["section", "figure", "panel", "panel", "said"]


def test_what_is_bold_is_said_and_a_word_in_bold_is_not():
    made = slides(
        "<p>Begin.</p><p>A <strong>gap</strong> has a name.</p><p>So <strong>size is what counts here.</strong></p>"
    )
    assert [plain(slide.lead) for slide in made] == ["Begin.", "So size is what counts here."]
    made = slides("<p>Begin.</p><p><strong>What goes wrong.</strong> Forget the root and all is shut.</p>")
    assert plain(made[1].lead) == "What goes wrong. Forget the root and all is shut."


def test_code_that_only_prepares_stays_on_the_page():
    made = slides("<p>Begin with a long walk.</p>" + cell(code="rows = []") + cell(code="def f(x):\n    return x"))
    assert [plain(slide.show) for slide in made if slide.show] == ["def f(x): return x"]
    (one,) = slides("<p>Print:</p>" + cell(printed("2.7183"), code="print(e)"))
    assert plain(one.show) == "print(e)2.7183"
    assert slides("<p>Begin.</p>" + cell(code="x = 1", tag="tag_hide-cell"))[0].show == ""


def test_a_long_listing_is_parted_at_an_empty_line_and_no_line_is_lost():
    first, second = ("\n".join(f"    {name}{i} = {i}" for i in range(12)) for name in "ab")
    code = f"def f():\n{first}\n\ndef g():\n{second}"
    made = slides("<p>Long.</p>" + cell(code=code))
    assert len(made) == 2
    shown = "".join(BeautifulSoup(slide.show, "html.parser").get_text() for slide in made)
    assert shown.split() == code.split()


def test_many_panels_take_several_slides_and_those_of_a_chain_stay_together():
    row = '<div class="byhand-beside">{}</div>'
    many = "".join(PANEL.format(i, "<tr><td>1</td></tr>" * 12) for i in range(5))
    wide = many.replace("<td>1</td>", f"<td>{'1' * 60}</td>")
    output = f'<div class="output text_html">{row.format(wide)}</div>'
    made = slides("<p>Look:</p>" + cell(output))
    assert len(made) > 1
    ids = [re.findall(r'id="(panel-\d)"', slide.show) for slide in made]
    assert [one for some in ids for one in some] == [f"panel-{i}" for i in range(5)]
    chain = f'<div class="output text_html"><div class="byhand-chain">{row.format(wide)}</div></div>'
    assert len(slides("<p>Look:</p>" + cell(chain))) == 1


def test_a_long_table_is_parted_with_its_head_above_each_part():
    rows = "".join(f"<tr><td>row {i}</td></tr>" for i in range(14))
    table = (
        f'<div class="table-wrapper"><table><thead><tr><th>what</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )
    made = slides(f"<p>All:</p>{table}")
    assert len(made) == 2 and all("<th>what</th>" in slide.show for slide in made)
    assert re.findall(r"row (\d+)", made[0].show + made[1].show) == [str(i) for i in range(14)]


def test_a_list_is_cut_after_a_sentence_and_goes_on_counting():
    long = "Nine words stand here and they end right here. " + "More words follow here. " * 8
    items = "".join(f"<li><p>{long}</p></li>" for _ in range(6))
    made = slides(f"<p>Steps:</p><ol>{items}</ol>")
    assert len(made) > 1
    assert all(len(plain(slide.show).split()) <= deck.WORDS + deck.ITEM for slide in made)
    starts = [int(re.search(r'start="(\d+)"', slide.show)[1]) for slide in made]
    counts = [slide.show.count("<li>") for slide in made]
    assert starts == [1 + sum(counts[:i]) for i in range(len(made))] and sum(counts) == 6
    assert all("Nine words stand" in slide.show for slide in made)


def test_every_paragraph_stands_in_the_notes_once():
    texts = [f"Paragraph {i} says one thing. And more of it." for i in range(5)]
    made = slides("".join(f"<p>{text}</p>" + cell(panel(i)) * (i % 2) for i, text in enumerate(texts)))
    notes = [plain(note) for slide in made for note in slide.notes]
    assert notes == texts


def test_no_slide_has_more_words_than_it_may():
    long = " ".join(["word"] * 60)
    made = slides(f"<p>Word {long}. <strong>And this is said: {long}.</strong></p><p>Look {long}:</p>{cell(panel(1))}")
    assert all(len(plain(slide.lead).split()) <= deck.WORDS for slide in made)
    assert kinds(made) == ["panel"] and made[0].title == "Sums"


def test_the_text_may_leave_a_slide_out_or_ask_for_one():
    made = slides(f"<p>Begin.</p><!-- slides: leave out -->{cell(panel(1))}<!-- slides: show --><p>Plain words.</p>")
    assert [(slide.kind, plain(slide.lead)) for slide in made] == [("section", "Begin."), ("said", "Plain words.")]
    with pytest.raises(SlidesError, match="05: slides: expected leave out or show, got 'hide'"):
        slides("<!-- slides: hide --><p>Words.</p>")


# ---------------------------------------------------------------- the end of a chapter

EXERCISE = """<div class="exercise admonition" id="ex-05-{0}">
<p class="admonition-title"><span>Exercise 5.{0}: </span>Halve it</p>
<section><p class="exercise-about"><em>{1}, 5 min</em></p><p>What is half of 5? (<a href="#sums">Sums</a>)</p>
<p>Check it with <code>check.byhand</code>.</p></section></div><details class="solution">The answer is 2.5.</details>"""


def test_short_exercises_by_hand_stand_at_the_end_without_check_and_solution():
    body = EXERCISE.format(1, "By hand, level 1") + EXERCISE.format(2, "Code, level 1")
    made = deck.deck("05", page(section(body, "exercises", "Exercises")), ("06_heads", "6. Heads", "Why two?"))
    (exercise,), (last,) = made.columns[1:]
    assert plain(exercise.title) == "Exercise 5.1: Halve it" and plain(exercise.show) == "What is half of 5?"
    assert last.title == "Why two?" and 'href="06_heads.html"' in last.show
    assert "2.5" not in str(made)


# ---------------------------------------------------------------- the folder

TOC = """\
root: book/first
parts:
  - caption: All
    chapters: [{file: notebooks/05_roots}, {file: notebooks/06_heads}]
"""


def small_site(folder):
    (folder / "_toc.yml").write_text(TOC, "utf-8")
    (folder / "_config.yml").write_text("title: A Book\n", "utf-8")
    site = folder / "html"
    (site / "notebooks").mkdir(parents=True)
    (site / "_static").mkdir()
    (site / "_static" / "toytf.css").write_text("p {}", "utf-8")
    (site / "_static" / "panel.js").write_text("", "utf-8")
    head = '<link rel="stylesheet" href="../_static/toytf.css?v=1"><script src="../_static/panel.js?v=2"></script>'
    links = (
        '<p>See <a href="#sums">here</a>, <a href="06_heads.html#sums">there</a>, <a href="06_heads.html#no">near</a>,'
        ' <a href="../book/api/ops.html">ops</a>, <a href="#nowhere">lost</a>, <a href="https://a.org/">out</a>.</p>'
    )
    for name in ("05_roots", "06_heads"):
        (site / "notebooks" / f"{name}.html").write_text(head + page(section(links)), "utf-8")
    return site


def archive(folder):
    """An archive with the parts of reveal.js, all empty."""
    path = folder / "reveal.tgz"
    with tarfile.open(path, "w:gz") as packed:
        for name in make_slides.PARTS:
            packed.addfile(tarfile.TarInfo(name), io.BytesIO(b""))
    return path


def test_links_lead_to_slides_and_the_folder_holds_all_that_is_asked_for(tmp_path):
    site, out = small_site(tmp_path), tmp_path / "slides"
    make_slides.write(site, archive(tmp_path), out, tmp_path)
    soup = BeautifulSoup((out / "05_roots.html").read_text("utf-8"), "html.parser")
    leads = [link["href"] for link in soup.select(".lead a")]
    assert leads == ["#/sums", "06_heads.html#/sums", "06_heads.html", "https://a.org/"]
    asked = [node.get("href") or node.get("src") for node in soup.select("link, script")]
    assert "assets/panel.js" in asked and all((out / name).is_file() for name in asked)
    listed = BeautifulSoup((out / "index.html").read_text("utf-8"), "html.parser")
    assert [link["href"] for link in listed.select("li a")] == ["05_roots.html", "06_heads.html"]


def test_a_missing_site_and_another_archive_are_named_and_the_old_slides_stay(tmp_path, capsys, monkeypatch):
    out = tmp_path / "slides"
    out.mkdir()
    (out / "index.html").write_text("old", "utf-8")
    words = ["--site", str(tmp_path / "nowhere"), "--out", str(out)]
    assert make_slides.main(words) == 2
    assert re.search(
        r"expected the page .*01_overview.html, found none: run `make book` first", capsys.readouterr().err
    )
    site = small_site(tmp_path)
    with pytest.raises(npm.Failed, match=r"reveal\.tgz is not what was pinned:\nexpected sha512-JYIg5D"):
        make_slides.build(site, out, tmp_path / "cache", str(archive(tmp_path)), tmp_path)
    with pytest.raises(npm.Failed, match="TOYTF_REVEAL: expected a file, got '/not/here'"):
        make_slides.build(site, out, tmp_path / "cache", "/not/here", tmp_path)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(npm.Failed, match=r"npm is not installed(.|\n)*TOYTF_REVEAL=reveal\.js-.*\.tgz make slides"):
        make_slides.build(site, out, tmp_path / "cache", None, tmp_path)
    assert (out / "index.html").read_text("utf-8") == "old"


def test_new_slides_take_the_old_ones_place_and_nothing_else_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(npm, "verify", lambda path, integrity: None)
    site, out = small_site(tmp_path), tmp_path / "made" / "slides"
    out.mkdir(parents=True)
    (out / "old.html").write_text("old", "utf-8")
    make_slides.build(site, out, tmp_path / "cache", str(archive(tmp_path)), tmp_path)
    assert sorted(path.name for path in out.iterdir()) == ["05_roots.html", "06_heads.html", "assets", "index.html"]
    assert [path.name for path in out.parent.iterdir()] == ["slides"]
