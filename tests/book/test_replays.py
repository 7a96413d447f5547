"""The replays: each digit, remark and topic of the five texts has its place, and what they say of it holds."""

import ast
import copy
import json
import re
from collections import Counter
from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cache

import numpy as np
import pytest
from docutils.nodes import make_id
from hypothesis import given
from hypothesis import strategies as st

from bookcheck import reading
from bookcheck.links import heading_slugs, headings, links
from replays import index, ledger
from replays.__main__ import main
from replays.ledger import CORRECTED, DRAWN, GIVEN, KINDS, NOT_PRINTED, OWNERS, REPRODUCED, TEXTS, Source, agrees, judge
from toytf.course.chapters import chapters

SOURCES = [Source(number) for number in TEXTS]
ROWS = {row.id: row for text in SOURCES for row in text.rows.values()}
CELL = re.compile(r"^```\{code-cell\}.*?^```$", re.MULTILINE | re.DOTALL)
COURSE = re.compile(r"^\*In the course:\* (.*?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
HARMLESS = "what-does-no-harm"


@cache
def ran(number):
    return index.run(number)


def results():
    return {result.row.id: result for number in TEXTS for result in ran(number)[0].results.values()}


def page(number):
    return (reading.ROOT / "book" / "pages" / f"{SOURCES[number].page}.md").read_text("utf-8")


def steps(markdown):
    """``slug -> text`` of what stands from each heading of a page to the next, cells included."""
    found, slug, seen = {"": ""}, "", ""
    for part in re.split(rf"({CELL.pattern})", markdown, flags=CELL.flags):
        for text in (
            [part] if part.startswith("```{code-cell}") else re.split(r"^(?=#{1,6} )", part, flags=re.MULTILINE)
        ):
            if heading := [] if text.startswith("```{code-cell}") else headings(text):
                seen += f"\n\n{'#' * heading[0][0]} {heading[0][1]}"
                slug = heading_slugs(seen)[-1]
            found[slug] = found.get(slug, "") + text
    return found


# ---------------------------------------------------------------- what a page must hold


def compared_in(text):
    """The names that the cells of a text hand to ``compare``."""
    cells = ("\n".join(cell.splitlines()[1:-1]) for cell in CELL.findall(text))
    trees = (ast.parse(re.sub(r"^---\n(.*\n)*?---\n|^:tags:.*\n", "", cell)) for cell in cells)
    calls = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [
        key.arg for call in calls if ast.unparse(call.func) in ("compare", "state.compare") for key in call.keywords
    ]


def number_problems(markdown, rows):
    """Each row is compared once, in a cell below its step; a setting that nothing computes need not be."""
    there = Counter((name, slug) for slug, text in steps(markdown).items() for name in compared_in(text))
    wanted = Counter((row.name, row.step) for row in rows)
    settings = {row.name for row in rows if row.given}
    yield from (f"{name} is compared at #{slug}, and should not be" for name, slug in there - wanted)
    yield from (f"{name} is not compared at #{slug}" for name, slug in wanted - there if name not in settings)


def remark_problems(markdown, remarks):
    """A remark stands once: at its step, opened by its title, or in the table at the end; and no code is in sight."""
    there = {
        slug: [
            " ".join(bold.lower().split()) for bold in re.findall(r"\*\*(.+?)\.?\*\*", CELL.sub("", text), re.DOTALL)
        ]
        for slug, text in steps(markdown).items()
    }
    for name, said in remarks.items():
        places = [slug for slug, bold in there.items() for title in bold if title == said.title.lower()]
        if places != ([said.step] if said.step else []):
            yield f"{name} stands at {places}, and its step is {said.step!r}"
        if (said.kind == "withdrawn") == bool(said.step or said.says) or (said.step and said.says):
            yield f"{name}: expected one place, and none for what is withdrawn"
    if ".harmless()" not in steps(markdown).get(HARMLESS, ""):
        yield "the table of what does no harm is not shown"
    if "**What to change if you" not in markdown:
        yield "nothing says what to change"
    yield from (f"{code} is in sight" for code in re.findall(r"\b[ETX]\d-\d+", markdown))


def words_problems(remarks):
    """Each remark has the words that it is about, what stands around them, a kind and an owner that fit."""
    fits = {"translation": {"Chinese edition"}, "extraction": {"web copy"}, "withdrawn": {"this course"}}
    authors = set(OWNERS) - {"this course", "web copy"}
    for name, said in remarks.items():
        if (
            not all(part.strip() for part in (said.title, said.quote, said.context, said.where))
            or said.kind not in KINDS
        ):
            yield f"{name} is not whole"
        if said.whose not in fits.get(said.kind, authors):
            yield f"{name}: kind {said.kind} and whose {said.whose} do not fit"
        if re.search(r"[\u4e00-\u9fff]", said.quote) and not said.means.strip():
            yield f"{name} quotes Chinese and does not say what it means"


def topic_problems(markdown, topics):
    """A step leads into the course by one link, to where one of its topics is taught, behind its first paragraph."""
    homes = {}
    for topic in topics.values():
        homes.setdefault(topic["step"], set()).update(topic["course"])
    there = steps(markdown)
    for slug, wanted in homes.items():
        text = there.get(slug, "")
        found = {to.replace("../", "") + f"#{at}" for to, at in links(text)}
        if not found & wanted:
            yield f"#{slug} does not lead to any of {sorted(wanted)}"
    for slug, text in there.items():
        rails = [links(line.partition("*in the post:*")[0]) for line in COURSE.findall(text)]
        if [len(rail) for rail in rails] not in ([], [1]) or re.match(r"#+ .*\n\n(\{.margin\}\n)?\*In", text):
            yield f"#{slug} has more links than one, or before its text"


def digit_problems(digits, rows):
    """The digits of the text, in its order, are those of the rows, in theirs."""

    def words(printed):
        return [printed] if isinstance(printed, str) else [word for part in printed or [] for word in words(part)]

    read = (
        number
        for row in rows
        for word in words(row.printed)
        for number in re.findall(r"-?\d+\.\d\d+(?:e[-+]\d+)?", word)
    )
    mine = dict.fromkeys(number for number in read)
    terms = {number for number in digits if f"-{number}" in mine}  # in a sum, after its minus
    if list(mine) != [number for number in digits if number not in terms]:
        yield f"missing {set(digits) - terms - set(mine)}, more {set(mine) - set(digits)}, or another order"


@pytest.mark.parametrize("number", TEXTS)
def test_every_number_remark_and_topic_of_a_text_has_its_place(number):
    text, markdown = SOURCES[number], page(number)
    assert [*number_problems(markdown, text.rows.values())] == []
    assert [*remark_problems(markdown, text.remarks)] == []
    assert [*words_problems(text.remarks)] == []
    assert [*topic_problems(markdown, text.topics)] == []


def test_nothing_of_the_texts_is_lost():
    assert [len(text.rows) for text in SOURCES] == [151, 60, 16, 12, 9]
    assert [len(text.remarks) for text in SOURCES] == [69, 43, 14, 29, 22]
    assert [len(text.topics) for text in SOURCES] == [53 + 8, 37, 11, 17, 14]  # of the first, eight are exercises
    for text in SOURCES:
        assert [*text.topics] == sorted(text.topics)
        assert {name for row in text.rows.values() for name in (*row.corrected_by, *row.see)} <= set(text.remarks)
    titles = [said.title for text in SOURCES for said in text.remarks.values()]
    assert len(set(titles)) == len(titles)
    assert len(SOURCES[0].digits) == 232
    assert [*digit_problems(SOURCES[0].digits, SOURCES[0].rows.values())] == []


def test_every_home_is_a_heading_of_its_chapter():
    notebooks = {number: reading.ROOT / "notebooks" / f"{name}.ipynb" for number, name in chapters().items()}
    slugs = {number: heading_slugs(reading.page_markdown(path)) for number, path in notebooks.items()}
    assert [row.id for row in ROWS.values() if row.home not in slugs[row.chapter]] == []


# ---------------------------------------------------------------- planted mistakes

PAGE = """# A replay

**What to change if you follow the text:** nothing.

## Positions

Where a word stands.

*In the course:* [a](../notebooks/03_p.ipynb#b)

```{code-cell}
:tags: [hide-input]

compare(a=1, b=2)
```

**The row for World.** It is another one.

## What does no harm

```{code-cell}
text.harmless()
```
"""
ROW = replace(ROWS["s0-k1"], id="s0-a", step="positions")
SAID = replace(SOURCES[0].remarks["E0-01"], title="the row for World", step="positions")
MILD = replace(SAID, title="a word", step="", says="It is a word.")
GONE = replace(SAID, title="a bug", step="", kind="withdrawn", whose="this course")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        (", b=2", "", "b is not compared at #positions"),
        ("b=2", "b=2, a=3", "a is compared at #positions, and should not"),
        ("## Positions", "## Places", "a is compared at #places"),
        ("**The row for World.**", "The row for World.", "E0-02 stands at []"),
        ("It is another one.", "**A word.**", "E0-07 stands at ['positions']"),
        ("It is another one.", "**A bug.**", "E0-08 stands at ['positions']"),
        ("It is another one.", "See E0-01.", "E0-01 is in sight"),
        ("**What to change if", "**If", "nothing says what to change"),
        ("text.harmless()", "text", "the table of what does no harm"),
        ("03_p.ipynb#b", "03_p.ipynb#c", "#positions does not lead to"),
        (
            "(../notebooks/03_p.ipynb#b)",
            "(../notebooks/03_p.ipynb#b), [c](../notebooks/03_p.ipynb#c)",
            "#positions has",
        ),
        ("Where a word stands.\n\n", "", "#positions has more links than one, or before"),
    ],
)
def test_a_planted_mistake_in_a_page_is_caught(old, new, message):
    markdown = PAGE.replace(old, new) if old else PAGE
    found = [*number_problems(markdown.replace("a=1, a=3", "a=1"), [ROW, replace(ROW, id="s0-b")])]
    found += remark_problems(markdown, {"E0-02": SAID, "E0-07": MILD, "E0-08": GONE})
    found += topic_problems(markdown, {"T0-01": {"step": "positions", "course": ["notebooks/03_p.ipynb#b"]}})
    assert found == [] if message is None else any(one.startswith(message) for one in found), found


@pytest.mark.parametrize("change", [{"quote": " "}, {"kind": "mistake"}, {"kind": "translation"}, {"quote": "位置"}])
def test_a_remark_that_is_not_whole_is_caught(change):
    assert [*words_problems({"E0-02": SAID})] == []
    assert len([*words_problems({"E0-02": replace(SAID, **change)})]) == 1


def test_a_digit_that_is_lost_or_moved_is_caught():
    digits, rows = SOURCES[0].digits, [*SOURCES[0].rows.values()]
    assert [*digit_problems([*digits, "0.123"], rows)] and [*digit_problems(digits[:-1], rows)]
    assert [*digit_problems([digits[1], digits[0], *digits[2:]], rows)]
    assert [*digit_problems(digits, [row for row in rows if row.id != "s0-z"])]


# ---------------------------------------------------------------- the verdicts


@pytest.mark.parametrize("number", TEXTS)
def test_a_replay_runs_and_each_row_is_what_the_file_says_of_it(number):
    text, failures = ran(number)
    assert failures == []
    assert set(text.results) == set(text.rows)


def test_the_verdicts_are_these():
    assert Counter(result.verdict for result in results().values()) == {
        REPRODUCED: 134, GIVEN: 64, CORRECTED: 22, DRAWN: 15, NOT_PRINTED: 13,
    }  # fmt: skip
    prints = Counter(row.prints for row in ROWS.values())
    assert prints["nothing"] == 13 and sum(prints.values()) == 248


def test_what_follows_from_a_slip_is_what_the_course_says():
    def computed(name):
        return results()[name].numbers

    assert np.allclose(computed("s0-pe-world-vs-paper"), [np.sin(1), np.cos(1), np.sin(0.01), np.cos(0.01)])
    assert np.allclose(computed("s0-k1-hand-expansion")[1], [6.84, 10.0, 6.84])
    assert np.allclose(computed("s0-softmax2-with-math-wk2")[:, 0], [3.50985897e-14, 9.63330634e-20], atol=0, rtol=1e-8)
    assert np.allclose(computed("s0-dec-cross-attention-ln"), [[0.08427129, 1.60292327, -0.85408598, -0.83310859]])


def moved(word, away_from):
    """The word with its last digit one further away from a number."""
    digits, e, power = word.partition("e")
    unit = Decimal(1).scaleb(Decimal(digits).as_tuple().exponent)
    step = unit if Decimal(word) >= Decimal(away_from) else -unit
    return f"{Decimal(digits) + step}{e}{power}"


@pytest.mark.parametrize("number", TEXTS)
def test_a_changed_digit_fails(number):
    """In every number that reproduces, its last printed digit is changed by one, at every place."""
    for result in ran(number)[0].results.values():
        row = result.row
        if row.prints != "digits" or result.verdict != REPRODUCED:
            continue
        for where in np.ndindex(row.words.shape):
            words = copy.deepcopy(row.words)
            words[where] = moved(words[where], away_from=float(result.numbers[where]))
            with pytest.raises(ValueError, match="does not hold, and no remark says so"):
                judge(replace(row, printed=words.tolist()), result.numbers)


def test_a_correction_without_its_remark_fails_and_a_remark_without_its_correction():
    for result in results().values():
        value = (result.verdict != CORRECTED, result.found) if result.numbers is None else result.numbers
        if result.verdict == CORRECTED:
            with pytest.raises(ValueError, match="no remark says so"):
                judge(replace(result.row, corrected_by=()), value)
        else:
            with pytest.raises(ValueError, match="E0-01 calls it wrong, and it holds"):
                judge(replace(result.row, corrected_by=("E0-01",)), value)


def test_a_check_that_does_not_hold_fails():
    for result in results().values():
        if result.numbers is None and result.verdict != CORRECTED:
            with pytest.raises(ValueError, match="does not hold"):
                judge(result.row, (False, "something else"))
    with pytest.raises(ValueError, match="s1-wmt: it does not hold.*WMT 2015"):
        judge(ROWS["s1-wmt"], "WMT 2015")


def test_a_wrong_shape_or_name_is_told():
    with pytest.raises(ValueError, match=r"expected the shape \(2, 3\), got \(3, 2\)"):
        judge(ROWS["s0-k1"], np.zeros((3, 2)))
    for name, value in (("s0-k1", True), ("s0-relu", [0, 3]), ("s0-ffn-output", np.zeros((2, 4)))):
        with pytest.raises(ValueError, match=f"{name}: expected (numbers|True or False), got"):
            judge(ROWS[name], value)
    with pytest.raises(KeyError, match="unknown name 'k11': did you mean k1"):
        Source(0).compare(k11=1)
    with pytest.raises(ValueError, match="k2: expected a row with digits, this one prints nothing"):
        Source(0).printed("k2")
    with pytest.raises(ValueError, match="expected 0 to 4, got 5"):
        Source(5)


# What nobody can compute again: the checks in the cells see a changed array


def run_with(monkeypatch, tmp_path, today=None, **changed):
    """What fails in the first replay when printed words are changed."""
    for number in TEXTS:
        name = f"source{number}.json"
        data = json.loads((ledger.FOLDER / name).read_text("utf-8"))
        for row in data["numbers"] if number == 0 else ():
            called = row["id"][3:].replace("-", "_")
            row["printed"] = changed.get(called, row["printed"])
            row |= {"today": today[called]} if today and called in today else {}
        (tmp_path / name).write_text(json.dumps(data), "utf-8")
    monkeypatch.setattr(ledger, "FOLDER", tmp_path)
    return index.run(0)[1]


def of(name):
    return ROWS[f"s0-{name}"].words


@pytest.mark.parametrize("times", ["100", "0"])
def test_drawn_arrays_of_another_size_fail(times, monkeypatch, tmp_path):
    names = "ffn_output random_encoder_block dec_self_attention dec_cross_attention logits vocab_embeddings".split()
    names = names if times == "100" else names[:2]  # one row of zeros is small, and no more
    words = {
        name: np.vectorize(lambda word: str(Decimal(word) * int(times)))(of(name.replace("_", "-"))).tolist()
        for name in names
    }
    failures = " ".join(run_with(monkeypatch, tmp_path, **words))
    assert [name for name in names if f"s0-{name.replace('_', '-')}: it does not hold" not in failures] == []


def test_drawn_rows_that_are_not_what_a_layer_norm_leaves_fail(monkeypatch, tmp_path):
    names = "encoder6_norm", "gen_encoder_output", "decoder6"
    words = {name: of(name.replace("_", "-")).copy() for name in names}
    for name in names:
        words[name][0, 0] = str(Decimal(words[name][0, 0]) + Decimal("0.001"))
    words |= {"dec_ffn_output": np.array([["0.37023769", "1.45787460", "-0.73167804", "-1.09643426"]])}  # normalised
    words |= {"encoder_nan": of("z")}
    failures = " ".join(run_with(monkeypatch, tmp_path, **{name: array.tolist() for name, array in words.items()}))
    assert [name for name in words if f"s0-{name.replace('_', '-')}: it does not hold" not in failures] == []


@pytest.mark.parametrize(("name", "printed"), [("gen_iter_0", "0.09"), ("gen_output", "SOS how a EOS")])
def test_a_sentence_that_no_run_can_write_fails(name, printed, monkeypatch, tmp_path):
    assert f"s0-{name.replace('_', '-')}: it does not hold" in " ".join(
        run_with(monkeypatch, tmp_path, **{name: printed})
    )


# ---------------------------------------------------------------- the rule of agreement

NUMBERS = st.floats(min_value=-1e6, max_value=1e6, allow_subnormal=False)


@given(NUMBERS, st.integers(0, 8))
def test_a_rounded_number_agrees(number, places):
    assert agrees(f"{number:.{places}f}", number)
    half_even = Decimal(number).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_EVEN)
    assert agrees(str(half_even), number)


@given(NUMBERS, st.integers(0, 8))
def test_a_last_digit_that_is_off_by_one_does_not(number, places):
    assert not agrees(moved(f"{number:.{places}f}", away_from=number), number)


@given(st.integers(-(10**6), 10**6), st.integers(0, 6))
def test_a_tie_agrees_with_both_neighbours(thousands, places):
    low, high = (Decimal(thousands + k).scaleb(-places) for k in (0, 1))
    middle = float((low + high) / 2)
    assert agrees([f"{low:f}", f"{high:f}"], [middle, middle]).all()


@pytest.mark.parametrize(
    ("word", "number", "decimals", "expected"),
    [
        ("4.", 4.0, None, True),
        ("4.", 4.49, None, True),
        ("4.", 4.49, 8, False),
        ("1.00000000e+00", 0.9999999995, None, True),
        ("1.00000000e+00", 0.99999999, None, False),
        ("-1e10", -1e10, None, True),
        ("nan", float("nan"), None, True),
        ("nan", 1.0, None, False),
        ("1", float("nan"), None, False),
        ("1", float("inf"), None, False),
    ],
)
def test_single_words(word, number, decimals, expected):
    assert agrees(word, number, decimals) == expected


# ---------------------------------------------------------------- what is shown


def test_what_agrees_is_said_once(capsys):
    found = results()
    Source(0).compare(mu2_hand=found["s0-mu2-hand"].numbers, z=found["s0-z"].numbers, emb_hello=[1, 2, 3, 4])
    Source(0).compare("both", k1=found["s0-k1"].numbers, k2=found["s0-k2"].numbers, v1=found["s0-v1"].numbers)
    assert capsys.readouterr().out.splitlines()[:4] == [
        "✓ mean of row 2, rounded: -3.59559109",
        "✓ Z, both heads mixed by the output weights: all 8 entries, to 8 decimals",
        "given: embedding of Hello",
        "✓ both: all 12 entries, to 8 decimals",
    ]


def test_what_the_post_prints_today_is_checked_too(monkeypatch, tmp_path):
    now = SOURCES[0].today
    assert ran(0)[0].today.results.keys() == now.rows.keys() and 0 < len(now.rows) < len(SOURCES[0].rows)
    changed = SOURCES[0].row("gen_encoder_input").today[0][:3] + ["0.92639773"]
    failures = run_with(
        monkeypatch, tmp_path, today={"gen_encoder_input": [changed, now.row("gen_encoder_input").today[1]]}
    )
    assert "s0-gen-encoder-input: it does not hold" in " ".join(failures)


def test_markup_in_the_data_is_escaped():
    said = replace(MILD, title="a < b & c")
    assert "A &lt; b &amp; c" in ledger.Folded((said,))._repr_html_()


@pytest.mark.parametrize("number", TEXTS)
def test_the_index_has_a_line_for_every_number_and_every_remark_that_is_upheld(number):
    text, _ = ran(number)
    rows = [line for line in index.numbers_as_markdown(text).splitlines() if line.startswith("| [")]
    assert len(rows) == len(text.rows)
    slugs = steps(page(number))
    for line, row in zip(rows, text.rows.values(), strict=True):
        assert line.count(" | ") == 2 and row.what in line and "](../notebooks/" in line
        assert all(at in slugs for to, at in links(line) if to.startswith("replay_"))
    remarks = index.remarks_as_markdown(text).splitlines()[2:]
    assert len(remarks) == sum(said.kind != "withdrawn" for said in text.remarks.values())
    assert all(at in slugs for line in remarks for _, at in links(line))


@pytest.mark.parametrize("number", TEXTS)
def test_the_picture_leads_to_each_step_where_something_differs_and_has_a_square_for_each_number(number):
    text, strip = ran(number)[0], index.strip(number)
    titles, slugs = [title for _, title in headings(page(number))], heading_slugs(page(number))
    slug_of = {f"#{make_id(title)}": slug for title, slug in zip(titles, slugs, strict=True)}
    there = {slug_of[to]: (name[0], marks) for name, to, marks in strip.tiles}
    differs = {one.row.step for one in text.results.values() if one.verdict == CORRECTED}
    assert {slug for slug, (sign, _) in there.items() if sign == "≠"} == differs
    agreed = {one.row.step for one in text.results.values() if one.verdict == REPRODUCED}
    mended = {said.step for said in text.remarks.values() if said.kind == "error"}
    assert agreed | mended - {""} <= set(there)
    html = strip._repr_html_()
    assert html.count("h6v6h-6z") == sum(marks.count(True) for _, marks in there.values())
    assert all(f'href="{to}"' in html for _, to, _ in strip.tiles)


def test_the_command_prints_a_line_for_each_number_and_remark_and_fails_where_a_digit_is_changed(
    capsys, monkeypatch, tmp_path
):
    assert main(4) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if line.startswith("s4-")] == [row.id for row in SOURCES[4].rows.values()]
    assert max(map(len, lines)) <= index.WIDTH and "9 published: 5 reproduced, 2 given" in lines[-2]
    run_with(monkeypatch, tmp_path, k1=[["4.", "8.", "5."], ["6.84", "9.99", "6.84"]])
    assert main(0) == 1
    assert "FAILED ValueError: s0-k1: it does not hold" in capsys.readouterr().err
