"""Every number in the book's text is computed by a notebook, or was published."""

import json
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import digits
from bookcheck import places, prose, reading, runs
from numbertext import html_numbers, html_text, latex_numbers, markdown_numbers, plain_numbers

# ---------------------------------------------------------------------------------------
# The book's own text


def published(path):
    return prose.published_values(prose.chapter_of(path))


def place_problems(path):
    chapter = prose.chapter_of(path)
    homes, nb = prose.published_homes(chapter), reading.read_notebook(path)
    return places.place_problems(nb, path.name, published(path), homes, runs.known_to(nb, chapter))


@pytest.mark.parametrize("path", reading.notebook_paths(), ids=lambda p: p.name)
def test_every_number_in_a_notebooks_text_is_computed(path):
    if path in reading.chapter_paths():
        problems = place_problems(path)
    else:
        problems = prose.prose_problems(reading.read_notebook(path), path.name, published(path))
    assert not problems, "\n".join(problems)


TOGETHER = new_notebook(
    cells=[
        new_code_cell(
            "w = [[1, 2], [0.5, -3]]\nprint(w)", outputs=[new_output("stream", text="319 of 575, 12\n4 x 3\n")]
        )
    ]
)


@pytest.mark.parametrize(
    "right, wrong",
    [
        ("a list $[1, 2, 0.5]$", "a list $[1, 0.5, 2]$"),
        (r"$\begin{bmatrix} 1 & 2 \\ 0.5 & -3 \end{bmatrix}$", r"$\begin{bmatrix} 1 & 2 \\ 0.5 & 3 \end{bmatrix}$"),
        ("319 of 575", "319 of 563"),
        ("12 to 319", "2 to 319"),
        ("a table of 4 × 3", "a table of 3 × 4"),
        ("575, 12 and 4", "575, 12 and 2"),
        ("319, 575, 12", "319, 12, 575"),
        ("all alike: 7, 7, 7", "not alike: 7, 7, 5"),
        ("1 and 2", "1 and 0.5"),
        ("a list $[1, 2]$", "two alike: $[2, 2]$"),
        ("one with 319, two with 575", "one with 319, two with 12"),
        ("512 × 2048 is the paper's", "512 × 2047 is nobody's"),
        ("a link [4, 7](#there)", "a list [4, 7] of nothing"),
    ],
)
def test_numbers_that_stand_together_do_so_where_they_were_computed(right, wrong):
    known = runs.known_to(TOGETHER, 0)
    assert runs.unfound(right, known) == []
    assert len(runs.unfound(wrong, known)) == 1


@pytest.mark.parametrize(
    ("output", "text", "found"),
    [
        ("0.001 0.000", "It moves by 0.000.", True),
        ("0.001 0", "It moves by 0.000.", False),  # printed as 0.001, changed
        ("10.5", "It is 10.5.", True),
        ("0.5", "It is 00.5.", False),
        ("5,512", "It is 0,512.", False),
    ],
)
def test_zeros_are_those_that_were_printed(output, text, found):
    nb = new_notebook(cells=[new_markdown_cell(f"## Here\n\n{text}", id="a")])
    nb.cells.append(new_code_cell("x", id="b", outputs=[new_output("stream", text=output)]))
    assert (places.place_problems(nb, "01.ipynb") == []) == found


ASKED = """## Exercises

:::{exercise} 99.1: One
Take 24 rows of 31.
:::

:::{solution} ex-99-1
All 24 of them are 17.
:::"""


def test_a_solution_may_say_what_the_question_gives_and_the_question_what_is_computed_for_it():
    nb = new_notebook(cells=[new_markdown_cell(ASKED, id="a")])
    nb.cells.append(new_code_cell("print()", id="b", outputs=[new_output("stream", text="1: 31 24 17\n")]))
    assert places.place_problems(nb, "99.ipynb") == []
    nb.cells[0].source = ASKED.replace("24 rows", "23 rows")
    assert len(places.place_problems(nb, "99.ipynb")) == 1  # the question's 23
    nb.cells[0].source = ASKED.replace("All 24", "All 25")
    assert len(places.place_problems(nb, "99.ipynb")) == 1


def test_of_changed_digits_in_the_prose_of_all_chapters_most_are_caught():
    """Not of integers below 10, which no rule looks for. What escapes has become another value of its section."""
    found = list(digits.changes(reading.chapter_paths(), 500, small=False))
    caught, before = (sum(getattr(change, rule) for change in found) for rule in ("near", "everywhere"))
    assert len(found) == 500
    assert caught >= 0.97 * 500, [change for change in found if not change.near]
    assert caught > before + 40


@pytest.mark.parametrize("path", reading.notebook_paths(), ids=lambda p: p.name)
def test_no_result_is_typed_in_a_text_that_code_shows(path):
    problems = prose.typed_problems(reading.read_notebook(path), path.name, published(path))
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("path", reading.page_paths(), ids=lambda p: p.name)
def test_every_number_on_a_page_is_computed_by_a_notebook_that_it_links_to(path):
    problems = prose.page_problems(path, published(path))
    assert not problems, "\n".join(problems)


def test_every_paper_constant_is_needed():
    """A constant that no text uses is one more wrong number that would pass."""
    texts = [reading.page_markdown(path) for path in reading.notebook_paths() + reading.page_paths()]
    used = {n.value for text in texts for n in markdown_numbers(text)}
    known = published(reading.page_paths()[0])
    for constant, reason in prose.PAPER_CONSTANTS.items():
        assert reason
        assert constant in used, f"no text uses {constant}"
        assert not known.between(constant, constant), f"{constant} is a published number already"


# ---------------------------------------------------------------------------------------
# Planted mistakes


def chapter(text, output="", kind="text/plain", source="x", alt=None):
    """A chapter with one text cell and one code cell."""
    if kind == "stdout":
        outputs = [new_output("stream", name="stdout", text=output)]
    else:
        outputs = [new_output("execute_result", {kind: output}, execution_count=1)] if output else []
    metadata = {"mystnb": {"image": {"alt": alt}}} if alt else {}
    code = new_code_cell(source, id="code", execution_count=1, outputs=outputs, metadata=metadata)
    return new_notebook(cells=[new_markdown_cell(text, id="text"), code])


MATRIX = r"""$$
Z = \begin{bmatrix}
 11.4639 & -13.1802 & 0.5403 \\[0.5em]
 -11.5934 & 1.2 \cdot 10^{-3} & 4.67695573\times 10^{-10}
\end{bmatrix}
$$"""
MATRIX_OUTPUT = "[[ 11.46394285 -13.18016471 0.54030231]\n [-11.59340253 1.2e-03 4.67695573e-10]]"

TRUE_AND_PLANTED = {
    "a digit in a sentence": ("the weight is 0.5403.", "0.54030231", "0.5403", "0.5413"),
    "a digit in a LaTeX matrix": (MATRIX, MATRIX_OUTPUT, "11.4639", "11.4638"),
    "the last cell of a LaTeX matrix": (MATRIX, MATRIX_OUTPUT, "4.67695573", "4.67695574"),
    "a sign in a LaTeX matrix": (MATRIX, MATRIX_OUTPUT, "& -13.1802", "& 13.1802"),
    "a power of ten in LaTeX": (MATRIX, MATRIX_OUTPUT, "10^{-10}", "10^{-9}"),
    "a power of ten in words": ("about 4.7 × 10⁻¹⁰ of it", "4.67695573e-10", "⁻¹⁰", "⁻¹¹"),
    "a mantissa": ("a residual of 1.1e-15", "1.05e-15", "1.1e", "1.2e"),
    "a bare power of ten": ("a residual of about $10^{-15}$", "1.05e-15", "{-15}", "{-14}"),
    "a table": ("| a | b |\n|---|---|\n| 0.84 | -0.54 |", "0.8415 -0.5403", "-0.54", "-0.55"),
    "an admonition": (":::{note}\nIt is 0.84.\n:::", "0.8415", "0.84", "0.85"),
    "an exercise's solution": (
        "````{solution} ex\n:class: dropdown\n$\\sin 1 = 0.84$\n````",
        "0.8415",
        "0.84",
        "0.48",
    ),
    "a {math} directive": ("```{math}\n:label: e\n0.84 + 1.5\n```", "0.8415 1.5", "1.5", "1.6"),
    "a code span": ("It prints `0.84`.", "0.8415", "0.84", "0.83"),
    "a percentage": ("on 99.8 % of them", "0.998", "99.8", "98.9"),
    "a thousands separator": ("a cost of 1,234.5", "1234.5", "1,234.5", "1,243.5"),
    "a sign in words": ("a gap of −1.24", "-1.2404", "−", ""),
    "an integer": ("the score is 105 here", "105", "105", "150"),
    "an integer in a formula": (r"a $20 \times 4$ table", "(20, 4)", "20", "30"),
    "a year": ("the paper of 2017", "2017", "2017", "2071"),
    "digits cut off": ("the root is 1.732...", "1.7320508", "1.732", "1.733"),
}


@pytest.mark.parametrize("case", TRUE_AND_PLANTED)
def test_a_planted_digit_in_prose_is_caught(case):
    text, output, right, wrong = TRUE_AND_PLANTED[case]
    assert prose.prose_problems(chapter(text, output), "01.ipynb") == []
    assert text.count(right) == 1
    planted = text.replace(right, wrong)
    problems = prose.prose_problems(chapter(planted, output), "01.ipynb")
    assert len(problems) == 1
    assert problems[0].startswith("01.ipynb, cell 1 (id text): ")


def test_a_planted_digit_in_an_output_is_caught():
    """The other way round: prose stays, the computed number changes."""
    assert prose.prose_problems(chapter(MATRIX, MATRIX_OUTPUT), "01.ipynb") == []
    assert prose.prose_problems(chapter(MATRIX, MATRIX_OUTPUT.replace("54030", "54130")), "01.ipynb")


def test_a_planted_digit_in_an_alternative_text_is_caught():
    alt = "A heat map of the weights; the largest is 0.54, at the lower left."
    assert prose.prose_problems(chapter("Text.", "0.5403", alt=alt), "01.ipynb") == []
    problems = prose.prose_problems(chapter("Text.", "0.5413", alt=alt.replace("0.54", "0.45")), "01.ipynb")
    assert len(problems) == 1
    assert "cell 2 (id code)" in problems[0]


def test_a_message_names_the_nearest_computed_value():
    problem = prose.prose_problems(chapter("It is 0.55 here.", "0.1 0.5403 7"), "01.ipynb")[0]
    assert "0.55 is not computed (nearest: 0.5403)" in problem
    assert "«It is 0.55 here.»" in problem


@pytest.mark.parametrize(
    ("source", "caught"),
    [
        ("print('it is 0.55')", True),
        ("Markdown(f'it is 0.55, not {x:.2f}')", True),
        ("print(f'it is {x:.2f}')", False),
        ("print('it is {:.2f}'.format(x))", False),
        ("print('section 3.5 of the paper')", False),
        ("plot(x, color='0.55', bbox={'boxstyle': 'round,pad=0.55'})", False),
        ("print('10000**0.55 = 1')", True),
    ],
)
def test_a_result_typed_in_a_printed_text_is_caught(source, caught):
    nb = chapter("It is 0.55.", "it is 0.55", "stdout", source)
    assert prose.prose_problems(nb, "01.ipynb") == []  # printed, so it would pass as computed
    assert bool(prose.typed_problems(nb, "01.ipynb")) == caught
    nb.cells.append(chapter("", "0.5501").cells[1])  # computed by another cell
    assert prose.typed_problems(nb, "01.ipynb") == []


@pytest.mark.parametrize(
    ("kind", "output"),
    [
        ("stdout", "x = 0.5403"),
        ("text/plain", "[[0.5403]]"),
        ("text/html", "<table class='w-0.9'><td>0.5403</td></table>"),
        ("text/latex", r"$\displaystyle \frac{0.5403}{1}$"),
        ("text/markdown", "It is **0.5403** now."),
    ],
)
def test_numbers_of_every_kind_of_output_count(kind, output):
    assert prose.prose_problems(chapter("It is 0.54.", output, kind), "01.ipynb") == []
    assert prose.prose_problems(chapter("It is 0.9.", output, kind), "01.ipynb")


def test_the_size_of_a_picture_is_no_result():
    assert prose.prose_problems(chapter("It has 640 rows.", "<Figure size 640x480 with 1 Axes>"), "01.ipynb")


# ---------------------------------------------------------------------------------------
# What may account for a number


def test_a_short_number_typed_as_an_input_may_be_repeated_in_prose():
    source = "x = [2.84, -3.99]\nassert abs(x[0] - 1.5) < 1e-12\nn = 10_000"
    text = "From 2.84 and −3.99; at most $10^{-12}$ for 10,000 of them."
    assert prose.prose_problems(chapter(text, source=source), "01.ipynb") == []


@pytest.mark.parametrize("text", ["It is 2.8.", "It is -2.84.", "It is 3.99.", "It is 0.84147098.", "It is 7.00."])
def test_an_input_is_neither_rounded_nor_negated_nor_long(text):
    source = "x = [2.84, -3.99, 7]\ny = 0.84147098  # a result that somebody typed"
    assert prose.prose_problems(chapter(text, source=source), "01.ipynb")


def test_a_number_in_a_comment_or_a_string_of_the_code_is_no_input():
    assert prose.prose_problems(chapter("It is 2.84.", source="x = '2.84'  # 2.84"), "01.ipynb")


def test_published_numbers_count_from_their_chapter_on(tmp_path):
    path = tmp_path / "published.json"
    entries = [
        {"id": "s0-z", "chapter": "06", "printed": [["11.46394285", "-13.18016471"], ["105.21", "8"]]},
        {"id": "s0-k2", "chapter": "06", "printed": None},
        {"id": "s0-v1", "chapter": "06", "printed": ["7.99", "6.84"], "decimals": 8},
    ]
    path.write_text(json.dumps(entries), encoding="utf-8")
    published = prose.published_values(6, path)
    text = r"Source 0 prints $11.46394285$, about $-13.18$, and 105.21."
    assert prose.prose_problems(chapter(text), "06.ipynb", published) == []
    assert prose.prose_problems(chapter("Its 6.84 stands for 6.84000000."), "06.ipynb", published) == []
    assert prose.prose_problems(chapter("Its 105.21 stands for 105.2100."), "06.ipynb", published)
    assert len(prose.prose_problems(chapter(text), "05.ipynb", prose.published_values(5, path))) == 3
    for right, wrong in (("4285", "4281"), ("-13.18", "13.18"), ("105.21", "105.12")):
        assert len(prose.prose_problems(chapter(text.replace(right, wrong)), "06.ipynb", published)) == 1


def test_two_places_are_rounded_from_a_value_of_the_same_section():
    """Or equal to a value shown anywhere in the notebook, or marked as rounded."""

    def book(text):
        computed = chapter("## Sines", "0.8415 0.54 0.4161")
        return new_notebook(cells=[*computed.cells, new_markdown_cell(f"## Exercises\n\n{text}", id="end")])

    for text in ("It is 0.54.", "It is about 0.84.", "It is 0.8415.", r"$x \approx 0.84$"):
        assert prose.prose_problems(book(text), "01.ipynb") == []
    assert prose.prose_problems(book("It is 0.84."), "01.ipynb")
    assert prose.prose_problems(chapter("## Sines\n\nIt is 0.84.", "0.8415"), "01.ipynb") == []


def test_a_page_may_use_the_numbers_of_the_notebooks_that_it_links_to(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "03_positions.ipynb").write_text(json.dumps(chapter("Text.", "0.5403")), encoding="utf-8")
    page = tmp_path / "book" / "preface.md"
    page.write_text("The cosine is 0.54, see [positions](../notebooks/03_positions.ipynb#by-hand).")
    assert prose.page_problems(page) == []
    page.write_text("The cosine is 0.55, see [positions](../notebooks/03_positions.ipynb#by-hand).")
    assert len(prose.page_problems(page)) == 1
    page.write_text("The cosine is 0.54, see chapter 3.")
    assert len(prose.page_problems(page)) == 1


@pytest.mark.parametrize(
    ("text", "output", "fits"),
    [
        ("It is 0.55.", "0.545", True),  # a tie rounds up ...
        ("It is 0.54.", "0.545", True),  # ... or down
        ("It is 0.54.", "0.5451", False),
        ("about 37 times", "37.21", True),
        (r"$\approx 37$ times", "37.21", True),
        ("exactly 37 times", "37.21", False),
        ("exactly 37 times", "37.00", True),
        ("exactly 3.1 times", "3.10", True),  # a number with one decimal is like an integer
        ("exactly 3.1 times", "3.14", False),
        ("about 3.1 times", "3.14", True),
        ("more than 3.1 times", "3.14", True),
        ("0.0 of it", "0.04", False),
        ("0.00 of it", "0.004", True),
        ("3.1e-5 of it", "3.14e-5", True),
        ("25 % of them", "0.2512", True),
        ("25 of them", "0.2512", False),
        ("it is 6.0000", "6", False),  # prose that shows a point needs a value with one
        ("it is 6.0000", "6.00000", True),
        ("it is 0.50", "0.5", False),  # nor may it claim more places than are shown
        ("it is 0.50", "0.500", True),
        ("it is 6", "6.0000", True),
        ("it is 12", "12.0000", True),
        ("0.998 of them", "99.8 %", True),
        ("99.8 % of them", "0.99812", True),
        (r"$3 - 0.5$", "0.5 3", True),  # a minus that subtracts
        (r"$3 - 0.5$", "-0.5 3", True),
        (r"$= -0.5$", "0.5 3", False),  # a minus that is a sign
        ("the map [0.5 -0.7]", "0.5 0.7", False),
        ("it is -0.5", "0.5", False),
        ("it is 0.5", "-0.5", False),
        (r"$\pm 0.5$", "-0.5", True),
        ("0.5–0.7", "0.5 0.7", True),
        ("0.5-0.7", "0.5 0.7", True),
        ("$10^{-15}$", "1e-15", True),
        ("$10^{-15}$", "1.05e-15", False),  # a bare power of ten is not rounded
        ("about $10^{-15}$", "1.05e-15", True),
        ("1.414…", "1.41491", True),  # cut off, not rounded
        ("-1.414…", "-1.41491", True),
        ("1.414…", "1.4139", False),
    ],
)
def test_how_closely_prose_must_agree(text, output, fits):
    assert (prose.prose_problems(chapter(text, output), "01.ipynb") == []) == fits


# ---------------------------------------------------------------------------------------
# Where a number is computed

BOOK = """# 7. Sums

Two numbers are added.

@@

## Alpha

{alpha}

@@

## Beta beta

{beta}

@@

## What to remember

{summary}

## Exercises

:::{{exercise}} 7.1: One

{exercise}
:::

:::{{solution}} ex-07-1

{solution}
:::

:::{{exercise}} 7.2: Two

Text.
:::

@@

## Where to read on

Text.
"""
CODE = [
    ("start = 77", "705"),
    ("alpha = 41", "it is 12.25 and 150 and 2.4142"),
    ("beta = 42", "it is 13.75 and 180"),
    ("print('1:', 51)\nprint('2:', 52)", "1: 19.5\n    20\n2: 21.5\n"),
]


def placed(tags=(), kind="stdout", **texts):
    """The problems of a chapter of two sections and two exercises; {tags} and {kind} are of the cell of Alpha."""
    said = {name: "Text." for name in ("alpha", "beta", "summary", "exercise", "solution")} | texts
    cells = []
    for k, text in enumerate(BOOK.format(**said).split("@@")):
        cells.append(new_markdown_cell(text.strip(), id=f"text{k}"))
        if k < len(CODE):
            source, output = CODE[k]
            kinds, tagged = (kind, list(tags)) if k == 1 else ("stdout", [])
            cells.append(chapter("", output, kinds, source).cells[1])
            cells[-1].id, cells[-1].metadata["tags"] = f"code{k}", tagged
    homes = {"alpha": plain_numbers("33.3")}
    return places.place_problems(new_notebook(cells=cells), "07.ipynb", prose.Values(), homes)


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ({"alpha": "It is 12.25, or 150, about 12.3; 41 is typed."}, ""),
        ({"alpha": "It is 13.75."}, "13.75"),  # another section's
        ({"alpha": "It is 180."}, "180"),
        ({"alpha": "A first 42."}, "42"),
        ({"alpha": "It is 705."}, ""),  # the first screen's, with three digits
        ({"alpha": "It is 77."}, "77"),  # with two
        ({"alpha": "See [Beta](#beta-beta). It is 13.75."}, "13.75"),  # the link is another sentence's
        ({"alpha": "It is 13.75, see [Beta](#beta-beta)."}, ""),
        ({"alpha": "See [Beta](#beta-beta).\n\nIt is 13.75."}, "13.75"),  # the link is another paragraph's
        ({"alpha": "It is 13.75, see [Beta](../notebooks/07_sums.ipynb#beta-beta)."}, "13.75"),
        ({"beta": "It is 2.4142."}, ""),  # four decimals: from anywhere
        ({"beta": "### Gamma\n\nIt is 13.75."}, ""),  # a heading of level 3 begins no section
        ({"alpha": "A source prints 33.3."}, ""),  # and this section computes it
        ({"beta": "A source prints 33.3."}, "33.3"),
        ({"alpha": "150 + 41 = 191, and 191 again."}, ""),  # arithmetic computes
        ({"alpha": "150 + 41 = 192."}, "192"),
        ({"alpha": "Step 050."}, "050"),
        ({"alpha": "It is 41.", "tags": ["hide-input"]}, "41"),  # typed out of sight
        ({"alpha": "It is 150.", "tags": ["hide-input"]}, ""),  # printed in sight
        ({"alpha": "It is 150.", "kind": "image/svg+xml"}, "150"),  # the tick of an axis
        ({"summary": "It was 13.75.", "beta": "It is 13.75."}, ""),  # the prose says it
        ({"summary": "It was 13.75."}, "13.75"),  # it does not
        ({"summary": "- It was 13.75 ([Beta](#beta-beta))."}, ""),
        ({"summary": "- It was 12.25 ([Beta](#beta-beta)).", "alpha": "It is 12.25."}, "12.25"),
        ({"solution": "It is 19.5, and 20, and 51."}, ""),
        ({"exercise": "Is it 21.5?"}, "21.5"),  # the second exercise's
        ({"exercise": "Is it 52?"}, "52"),
        ({"exercise": "See [Alpha](#alpha).", "solution": "It is 12.25."}, "12.25"),  # the link is the question's
        ({"exercise": "See [Alpha](#alpha): 12.25.", "solution": "It is 12.25."}, ""),  # and so is the number
        ({"solution": "It is 12.25, as in [Alpha](#alpha)."}, ""),
        ({"exercise": "It is 705."}, "705"),  # the first screen's
        ({"solution": "```python\nx = 64\n```\n\nIt has 64."}, ""),  # a listing that the check runs
    ],
)
def test_a_number_is_computed_where_it_stands(said, wrong):
    problems = placed(**said)
    assert bool(problems) == bool(wrong), problems
    for problem in problems:
        assert f"{wrong} is not computed there" in problem or "is wrong" in problem


FAR = {1: ("0.3", "0.7"), 2: ("25", "45"), 3: ("125", "145"), 4: ("0.4125", "0.4145")}


@pytest.mark.parametrize("how_many", FAR)
@pytest.mark.parametrize("away", [1, 2, 3])
def test_the_fewer_digits_the_nearer_it_is_computed(how_many, away):
    """A section of six cells, and the text in the middle; the number is printed so many cells away."""
    right, wrong = FAR[how_many]
    for place in (2 + away, 3 - away):
        cells = [new_code_cell("x", id=f"c{k}", outputs=[]) for k in range(6)]
        cells[place].outputs = [new_output("stream", text=right)]
        other = new_output("stream", text=wrong)
        end = [new_markdown_cell("## There", id="d"), new_code_cell("x", id="e", outputs=[other])]
        text = new_markdown_cell(f"It is {right}.", id="b")
        nb = new_notebook(cells=[new_markdown_cell("## Here", id="a"), *cells[:3], text, *cells[3:], *end])
        assert (places.place_problems(nb, "01.ipynb") == []) == (away <= how_many or how_many > 2)
        text.source = f"It is {wrong}."  # another section's: only four digits may come from there
        assert (places.place_problems(nb, "01.ipynb") == []) == (how_many == 4)


def test_the_message_names_the_section_what_is_near_and_where_else_it_is_computed():
    assert placed(alpha="It is 13.75.") == [
        "07.ipynb, cell 3 (id text1), «Alpha»: 13.75 is not computed there (nearest: 12.25; elsewhere: in beta-beta), "
        "in «It is 13.75.»"
    ]
    assert "elsewhere: nowhere in this notebook" in placed(alpha="It is 13.76.")[0]


def test_a_text_is_cut_at_blank_lines_and_not_within_a_formula_or_a_directive():
    whole = ["One\ntwo", "$$\na\n\nb\n$$", "::::{note}\n:::{tip}\nc\n\nd\n:::\n\ne\n::::", "```python\nf\n\ng\n```"]
    assert places.paragraphs("\n\n".join(whole)) == whole


# ---------------------------------------------------------------------------------------
# Arithmetic that the prose writes out


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("*Who*: 0.7·4 + 0.3·1 = 3.1.", "*Who*: 0.7·4 + 0.3·1 = 3.2."),
        ("so 112 / 8 = 14 here", "so 112 / 8 = 13 here"),
        (r"$2 \cdot 16 + 4 \cdot 32 = 160$", r"$2 \cdot 16 + 4 \cdot 23 = 160$"),
        (r"$10000^{1/3} \approx 21.54$", r"$10000^{1/3} \approx 21.45$"),
        (r"$x = \frac{7.389}{8.389} \approx 0.88$", r"$x = \frac{7.389}{8.389} \approx 0.86$"),
        ("4·7.99 + 8·12.84 = 31.96 + 102.72 = 134.68", "4·7.99 + 8·12.84 = 31.96 + 102.27 = 134.68"),
        ("4 · 512 · 8 · 64 = 1,048,576", "4 · 512 · 8 · 64 = 1,048,567"),
        ("5 − 7.5 = −2.5", "5 − 7.5 = 2.5"),
        ("$1 - 0.5 = 0.5$ and $x = 3$", "$1 - 0.5 = 0.6$ and $x = 3$"),
        ("`10**-3 == 0.001`", "`10**-3 == 0.01`"),
        ("175.66 / 30 = 5.8553", "175.66 / 30 = 5.8554"),
        ("2.8415 + 4.0100 = 6.8515", "2.8415 + 4.0100 = 6.8514"),
        ("$$2 / 8 = 0.25$$", "$$2 / 8 = 0.24$$"),
        (r"$\log 37000 \approx 10.5$", r"$\log 37000 \approx 11.5$"),
        (
            r"$H = -(0.5 \log 0.25$ ${} + 0.5 \log 0.75) \approx 0.8370$",
            r"$-(0.5 \log 0.25$ ${} + 0.5 \log 0.75) \approx 0.88$",
        ),
        (r"$-\log(5/8) \approx 0.4700$", r"$-\log(5/8) \approx 0.4200$"),
        (r"$-2 / \sqrt 2 \approx -1.4142$", r"$-2 / \sqrt 2 \approx -1.4124$"),
        ("0.2 / 0.5 = 0.4", "0.2 / 0.0 = 0.4"),
        (r"$\frac{1}{2} = 0.5$", r"$\frac{1}{0} = 0.5$"),
        (r"adds $0.9 \cdot [0.3, 0.4]$ $= [0.27, 0.36]$", r"adds $0.9 \cdot [0.3, 0.4]$ $= [0.27, 0.38]$"),
    ],
)
def test_a_planted_digit_in_written_out_arithmetic_is_caught(right, wrong):
    assert prose.arithmetic_problems(right) == []
    assert prose.arithmetic_problems(wrong)


@pytest.mark.parametrize(
    "text",
    [
        r"$\sin(0) = 0$, $\cos(0) = 1$, $\sqrt{16} = 4$, $e^0 = 1$, $\log 1 = 0$",
        r"$x + 1 = 3$, $2x = 4$, $k - 0.5 = 0.3$, $f(2) = 5$, $d_k = 3 = n_2$",
        r"$6 = 2x$, $3 = 6 x$, $8 = 2 \sqrt{16}$, 0.25 = 25 %, $4 = 2^x$",
        "| 3 | = 4 | 5 = |, keep=0.9, `x[2] = 5`, `n = 3`, 5 = five",
        r"(2 × 4)(4 × 3) = 2 × 3, $|{-3}| = 3$, $3! = 6$",
        "sin 0 = 0 and layer 2 = 2",
        "$9^{9^{9}} = 1$ and $(-8)^{1/3} = 2$",
    ],
)
def test_what_is_not_arithmetic_all_through_is_left_alone(text):
    assert prose.arithmetic_problems(text) == []


small = st.integers(0, 99)


@given(small, small, small, st.integers(-5, 5))
def test_arithmetic_is_right_exactly_when_it_is(a, b, c, error):
    right = a * b + c + error
    for text in (f"{a}·{b} + {c} = {right}", f"${a} \\cdot {b} + {c} = {right}$", f"It is {a} × {b} + {c} = {right}."):
        assert bool(prose.arithmetic_problems(text)) == (error != 0)


# ---------------------------------------------------------------------------------------
# What is not a number of the book: each rule with what it must not swallow


@pytest.mark.parametrize(
    ("text", "left"),
    [
        # section numbers
        ("section 3.4, 0.99 is", ["0.99"]),
        ("Sections 3.4, 3.5 and 3.6; 0.99", ["0.99"]),
        ("section 4.1 against 4.2, 0.99", ["0.99"]),
        ("in 3.2.1 and (3.2.2.1), 0.99", ["0.99"]),
        ("§3.5 and §§ 3.4 and 3.5: 0.99", ["0.99"]),
        ("## 3.2 Softmax of 0.99\n\n12. item 0.77", ["0.99", "0.77"]),
        # labels
        ("chapter 12, chapters 7 to 20, figure 10 and table 11: 12 rows", ["12"]),
        ("source 0, item 0.77, chapters 7 to 20.", ["0.77"]),
        (":::{solution} ex-19-1", []),
        ("T0-13, E0-02, X0-1 to X0-8, T1-18 to T1-25, id `E1-41`; 13", ["13"]),
        ("a note[^12] of 13", ["13"]),
        # versions
        ("Python 3.11 to 3.14, NumPy 2.4.6 or NumPy 1.26, `numpy==2.4.6`, 0.99", ["0.99"]),
        ("`python3.11 -m venv` and `numpy>=1.26`, v1.3, version 1.0; 0.99", ["0.99"]),
        ("GPT-3.5, UTF-8 and BERT-24 take 0.99", ["0.99"]),
        ("Llama 3.1 takes 0.99", ["0.99"]),
        # addresses
        ("arXiv 1706.03762, [arXiv:1706.03762v5](https://arxiv.org/abs/1706.03762), 0.99", ["0.99"]),
        ('[a 0.5](../notebooks/03_positions.ipynb#a-0.7 "t 12"), 0.99', ["0.5", "0.99"]),
        ("<https://a.org/1.5> https://a.org/2.5 doi:10.1145/3442188.34459 0.99", ["0.99"]),
        ("[ref]: https://a.org/1.5\n\n0.99", ["0.99"]),
        ("`notebooks/03_positions.ipynb`, `05_scaling.ipynb#a-1.5`, `0.99`", ["0.99"]),
        ("*Adam* (2015), (*Scaling*, 1999), *Nets*, 1986; Werbos (1974), with 0.99 of 2015", ["0.99", "2015"]),
        # dates
        ("2024-10-12, 12 June 2017, June 2017, 0.99", ["0.99"]),
        # names and formats
        ("`float64`, K1, x_12, W_Q1, `{:.4f}`, 0x7f91, `%.3f`; 0.99", ["0.99"]),
        (r"$s_{12} + s_{1,12} + x_1 = 0.99$, x₁₂", ["0.99"]),
        # layout and directives
        (r"$$1.5 \\[0.7em] \hspace{1.2em} \phantom{0.3} \tag{12} \color{red} 2.5$$", ["1.5", "2.5"]),
        (r"\begin{array}{rr} 1.5 \end{array}", ["1.5"]),
        (":::{figure} a_1.5.png\n:width: 80.5%\n:alt: It is 0.7.\nCaption 0.8\n:::", ["0.7", "0.8"]),
        (":::{exercise} Width 24\n:label: ex-25\n26 and {ref}`ex-27`\n:::", ["24", "26"]),
        (
            ":::{exercise} 4.1: Width 24\n\n*By hand and code, level 2, 25 min*\n\n26, in 27 min\n:::",
            ["24", "26", "27"],
        ),
        ('`check.byhand("4.12", 0.99)`, `f("4.12")`', ["0.99", "4.12"]),
        ("{glue:text}`loss:.3f` and {math}`0.99`", ["0.99"]),
        ('<span style=\'width:1.5em\'>0.99</span> <img alt="It is 0.7." src="a-0.8.png">', ["0.99", "0.7"]),
        ("<!-- 0.5 --> 0.99", ["0.99"]),
        ("---\ntitle: x 0.5\n---\n0.99", ["0.99"]),
    ],
)
def test_a_rule_leaves_out_what_is_no_number_of_the_book_and_nothing_else(text, left):
    found = [n.text for n in markdown_numbers(text) if n.decimal or n.value >= 10]
    assert found == left


def test_a_bullet_is_no_minus():
    (number,) = markdown_numbers("- 0.7 of it")
    assert number.candidates == (Decimal("0.7"),)


# ---------------------------------------------------------------------------------------
# Reading: what is rendered is read back

decimals = st.decimals(-9999, 9999, places=4).map(lambda d: d + 0)  # no negative zero
DASH = "\u2212"


def only(numbers):
    """The one number that was read, when its sign is certain."""
    (number,) = numbers
    (value,) = number.candidates
    return value


@given(decimals)
def test_a_number_is_read_back_from_text(value):
    assert only(markdown_numbers(f"It is {value}.")) == value
    assert only(markdown_numbers(f"It is {str(value).replace('-', DASH)}, so")) == value
    assert only(markdown_numbers(f"It is **{value}**")) == value
    assert only(markdown_numbers(f"| {value} | a |")) == value
    assert only(markdown_numbers(f"`{value}`")) == value


@given(decimals)
def test_a_number_is_read_back_with_a_thousands_separator(value):
    assert only(markdown_numbers(f"It is {value:,.4f}.")) == value
    tex = f"{value:,.4f}".replace(",", "{,}")
    assert only(markdown_numbers(f"$x = {tex}$")) == value
    assert only(markdown_numbers(f"It is {f'{value:,.4f}'.replace(',', chr(0x202F))}.")) == value


@given(decimals, st.integers(-300, 300))
def test_scientific_notation_is_read_back(mantissa, power):
    value = mantissa.scaleb(power)
    raised = str(power).translate(str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"))
    for text in (
        f"It is {mantissa}e{power:+03d}.",
        f"It is {mantissa} × 10{raised}.",
        f"It is {mantissa} x 10^{power}.",
        f"It is {mantissa}·10<sup>{power}</sup>.",
        f"$x = {mantissa} \\times 10^{{{power}}}$",
        f"$x = {mantissa}\\cdot10^{{{power}}}$",
    ):
        assert only(markdown_numbers(text)) == value


@given(st.lists(decimals, min_size=1, max_size=6))
def test_a_matrix_is_read_back_entry_by_entry(row):
    tex = r"\begin{bmatrix}" + " & ".join(map(str, row)) + r" \\ " + "&".join(map(str, row)) + r"\end{bmatrix}"
    for numbers in (markdown_numbers(f"$$A = {tex}$$"), latex_numbers(tex)):
        assert [n.candidates for n in numbers] == [(value,) for value in row + row]


@given(st.lists(decimals, min_size=1, max_size=6))
def test_printed_and_html_output_is_read_back(row):
    assert [n.candidates for n in plain_numbers(f"[[{' '.join(map(str, row))}]]")] == [(v,) for v in row]
    cells = "".join(f'<td style="width:1.5em" data-n="7">{str(v).replace("-", DASH)}</td>' for v in row)
    assert [n.candidates for n in html_numbers(f"<tr>{cells}</tr>")] == [(v,) for v in row]


@given(decimals, st.integers(2, 4), st.sampled_from([-2, -1, 1, 2]))
def test_a_rounded_number_is_found_and_its_neighbours_are_not(value, places, steps):
    rounded = round(value, places)
    assert prose.prose_problems(chapter(f"It is {rounded}.", str(value)), "01.ipynb") == []
    other = rounded + steps * Decimal(1).scaleb(-places)
    tie = abs(other - value) == Decimal(5).scaleb(-places - 1)
    assert bool(prose.prose_problems(chapter(f"It is {other}.", str(value)), "01.ipynb")) == (not tie)


def test_written_out_arithmetic_is_read_factor_by_factor():
    found = html_numbers("<p>2.84·0 + 3.99·1</p>")
    assert [str(n.value) for n in found] == ["2.84", "0", "3.99", "1"]


def test_raised_numbers_are_read_with_their_sign():
    for numbers in (
        plain_numbers("e⁻¹·²⁴"),
        html_numbers("e<sup>−1.24</sup>"),
        latex_numbers("e^{-1.24}"),
        plain_numbers("e^(-1.24)"),
    ):
        assert only(numbers) == Decimal("-1.24")


def test_html_is_read_as_a_reader_sees_it():
    source = (
        "<style>a{width:1.5em}</style><script>x = 2.5</script>"
        '<p title="3.5">4.5<b>6</b> x<sub>12</sub></p><ul><li>7</li><li>8</li></ul><!-- 9.5 -->'
    )
    assert re.findall(r"[\d.]+", html_text(source)) == ["4.56", "7", "8"]
