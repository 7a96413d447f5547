"""The boxes for answers say what `check.byhand` prints, in every exercise, by keyboard, by finger and aloud."""

import json
import re
from dataclasses import dataclass

import nbformat
import numpy as np
import pytest

import sitecheck
from livecheck import FINGER, page_problems
from sitecheck import write_small_book
from toytf.check import BY_HAND
from toytf.check.answers import Attempts
from toytf.live import answer, element

PARTS = [(pencil, part) for pencil in BY_HAND.values() for part in pencil.parts]
SCRIPT = element.script("base") + element.script("answer")  # as a page has it that has nothing else to touch


@dataclass(frozen=True)
class Boxed:
    """An exercise of the book, as the page has it."""

    number: str
    name: str = "answer"
    needs: tuple[str, ...] = ()
    later: str = ""

    def html(self):
        box = answer.box(BY_HAND[self.number])
        title = f'<p class="admonition-title">{self.number}: What it asks</p>'
        return f'<div class="exercise admonition">{title}<section><p>Its text.</p></section>{box}</div>'


def opened(touch, number, **settings):
    """The open box of an exercise, and its page."""
    page = touch(Boxed(number), **settings)
    page.locator("toytf-answer summary").click()
    page.locator(".answer-part").first.wait_for()
    return page


def cells(page, part):
    cells = page.locator(".answer-part").nth(part).locator("input")
    cells.first.wait_for()  # a box makes its cells when it is opened
    return cells.all()


def type_answer(page, part, *words):
    """Type an answer from the keyboard, cell by cell, and press Enter in the last."""
    found = cells(page, part)
    found[0].focus()
    for k, word in enumerate(words):
        if k:
            page.keyboard.press("Tab")
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type(word)
    page.keyboard.press("Enter")


def said(page, part):
    return page.locator(".answer-said").nth(part).locator("p").all_inner_texts()


def lines(report):
    """A report's lines, without the spaces that they begin with."""
    return [line.strip() for line in str(report).splitlines()]


def printed(number, part, *answers):
    """What `check.byhand` prints for one answer after the other."""
    attempts = Attempts()
    return [lines(BY_HAND[number].reports(mine, part, attempts)[0]) for mine in answers]


# ---------------------------------------------------------------- the same words


def wrong_answers(part, rng):
    """Known slips, entry by entry and whole, random numbers, the edges of what is right, and a zero with a sign."""
    right = np.asarray(part.expected, dtype=float)
    yield right
    yield np.round(right, part.decimals)
    yield right * 0.0 - 0.0
    yield -0.0 * (right + 1)
    for trap in (*part.wrong_answers, *part.common_mistakes):
        value = np.asarray(trap.value, dtype=float)
        if value.shape == right.shape:
            yield value
            one = right.copy()
            at = tuple(int(rng.integers(n)) for n in right.shape)
            one[at] = value[at]
            yield one
            room = np.broadcast_to(0.006 if trap.room is None else trap.room, right.shape)
            yield value + rng.choice([0.9, 1.1]) * np.abs(room)
    for edge in (1 - 1e-12, 1 + 1e-12, -1 + 1e-12, -1 - 1e-12):
        yield right + edge * part.room
    for size in (1e-7, 0.01, 1, 1e6, 1e12):
        yield right + size * rng.normal(size=right.shape)
    yield np.round(rng.normal(size=right.shape), 1)


@pytest.fixture
def reply(engine):
    """A function that asks the script, alone on its page, what it says to answers, one after the other."""
    ask = """text => JSON.stringify(JSON.parse(text).map(({ about, part, series }) => {
        const seen = new Set();
        return series.map((mine) => toytf.reply(about, part, mine, seen).lines);
    }))"""
    # as text: thousands of small arrays would travel one by one
    return lambda asked, *changed: json.loads(engine(*changed, script=SCRIPT)(ask, json.dumps(asked)))


def series(seed=0):
    """Of each part: what the script is asked, and what Python says."""
    rng = np.random.default_rng(seed)
    asked, expected = [], []
    for pencil, part in PARTS:
        told = next(one for one in answer.data(pencil)["parts"] if one["name"] == part.name)
        mine = list(wrong_answers(part, rng))
        order = rng.permutation(len(mine))
        mine = [mine[k] for k in order for _ in range(1 + int(rng.integers(5) == 0))]  # some twice: no new try
        about = f"{pencil.number}, {part.name}" if part.name else pencil.number
        asked.append({"about": about, "part": told, "series": [np.ravel(one).tolist() for one in mine]})
        expected.append(printed(pencil.number, part.name, *mine))
    return asked, expected


@pytest.fixture(scope="module")
def everything():
    return series()


def test_it_says_what_the_notebook_says_to_every_exercise(reply, everything):
    asked, expected = everything
    found = reply(asked)
    answered = 0
    for one, here, there in zip(asked, found, expected, strict=True):
        for mine, page, notebook in zip(one["series"], here, there, strict=True):
            assert page == notebook, (one["about"], mine)
            answered += 1
    assert len(asked) == sum(len(pencil.parts) for pencil in BY_HAND.values()) and answered > 25 * len(asked)


def test_a_planted_difference_is_found(reply, everything):
    asked, expected = everything
    assert reply(asked, "<= part.room)", "<= 2 * part.room)") != expected


# ---------------------------------------------------------------- what is typed


def test_what_cannot_be_read_is_said_and_is_no_try(touch):
    page = opened(touch, "4.1")
    type_answer(page, 0, "four", "", "10,000")
    assert said(page, 0) == [
        "4.1, entry 1: expected a number, such as 2, -0.5, 1/3 or √2, got “four”.",
        "4.1, entry 3: “10,000” may be read in two ways. Write it without the comma.",
        "4.1: entry 2 has no number yet.",
    ]
    assert [cell.get_attribute("aria-invalid") for cell in cells(page, 0)] == ["true", None, "true"]  # no mark on none
    type_answer(page, 0, "4", "7", "8")
    assert said(page, 0) == printed("4.1", "", [4, 7, 8])[0]  # the hint alone


# ---------------------------------------------------------------- by keyboard, by finger, by ear


def test_by_keyboard_the_three_stages_follow_and_a_right_answer_begins_anew(touch):
    page = touch(Boxed("4.1"))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator(".answer-part").wait_for()
    tries = ["4 7 8", "4 7 8", "4 6 8", "4 5 8", "4 3 8", "4 2 8", "4 7 8"]
    heard = []
    for typed in tries:
        type_answer(page, 0, *typed.split())
        heard.append(said(page, 0))
    assert heard == printed("4.1", "", *[[int(word) for word in typed.split()] for typed in tries])
    assert heard[0] == heard[1] == heard[-1] != heard[2] != heard[3]
    assert "= 2" in heard[3][-1] and heard[5] == ["4.1: right."]


def test_parts_have_their_own_tries_and_start_over_forgets_all(touch):
    page = opened(touch, "9.1")
    for k in range(3):
        type_answer(page, 0, str(7 + k))
    type_answer(page, 2, "8/3")
    assert said(page, 0) == printed("9.1", "mean", 7, 8, 9)[2]
    assert said(page, 2) == printed("9.1", "variance", 8 / 3)[0]
    page.get_by_role("button", name="Start over").press("Enter")
    assert said(page, 0) == said(page, 2) == []
    assert {box.input_value() for box in page.locator(".answer-part input").all()} == {""}
    assert page.locator(".answer-off").count() == 0
    type_answer(page, 0, "9")
    assert said(page, 0) == printed("9.1", "mean", 9)[0]


def test_a_finger_types_checks_and_turns_the_sign(touch):
    page = touch(Boxed("9.1"), **FINGER)
    page.locator("toytf-answer summary").tap()
    page.locator(".answer-part").first.wait_for()
    result = page.locator(".answer-part").nth(4)
    for box, number in zip(result.locator("input").all(), ("1.4142", "0", "0", "1.4142"), strict=True):
        box.tap()
        page.keyboard.type(number)
    result.locator("input").first.tap()
    result.get_by_role("button", name="Change the sign").tap()
    assert result.locator("input").first.input_value() == "−1.4142"
    assert result.locator("input").first.evaluate("box => box === document.activeElement")  # the keypad stays
    result.get_by_role("button", name="Check result").tap()
    assert said(page, 4) == ["9.1, result: right."]
    result.get_by_role("button", name="Change the sign").tap()
    assert result.locator("input").first.input_value() == "1.4142"


PASTED = ["[2.8415, 9.5403, 6.8515]", "2,8415\t9,5403\t6,8515", "2.8415 9.5403 6.8515", "2.8415; 9.5403; 6.8515"]


@pytest.mark.parametrize("pasted", PASTED)
def test_a_pasted_row_fills_the_cells(touch, pasted):
    page = opened(touch, "4.2")
    cells(page, 0)[0].evaluate(
        """(box, text) => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text", text);
            box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
        }""",
        pasted,
    )
    cells(page, 0)[0].press("Enter")
    assert said(page, 0) == printed("4.2", "", [2.8415, 9.5403, 6.8515])[0]


# ---------------------------------------------------------------- on the page


@pytest.mark.parametrize(("number", "width", "dark"), [("11.1", 390, False), ("8.1", 1280, True)])
def test_nothing_is_wider_than_the_page_and_axe_finds_nothing(touch, number, width, dark):
    page = opened(touch, number, width=width, dark=dark)
    assert not page_problems(page)
    for far in (1, 2, 3, 0):  # each stage, and what is right
        for k, part in enumerate(BY_HAND[number].parts):
            for cell, value in zip(cells(page, k), np.ravel(np.asarray(part.expected, dtype=float)), strict=True):
                cell.fill(repr(float(value) + far))
            cells(page, k)[0].press("Enter")
            assert said(page, k)[0].endswith(": right.") == (not far)
        assert not page_problems(page)


def test_the_book_has_a_box_in_each_by_hand_exercise(browser, tmp_path):
    folder = tmp_path / "book"
    write_small_book(folder)
    text = "# Second\n\n## There\n\n" + "\n\n".join(
        f":::{{exercise}} A title\n:label: {label}\n:nonumber:\n\n*By hand*\n\nCompute.\n\n"
        f"Check it with `check.byhand(...)`.\n:::\n\n"
        f":::{{solution}} {label}\n:label: {label.replace('ex', 'sol')}\n:class: dropdown\n\nSo.\n:::\n"
        for label in ("ex-04-1", "ex-04-4", "ex-09-1")
    )
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}, "language_info": {"name": "python"}}
    notebook = nbformat.v4.new_notebook(metadata=kernel, cells=[nbformat.v4.new_markdown_cell(text)])
    (folder / "second.md").unlink()
    first = folder / "first.md"
    first.write_text(first.read_text("utf-8").replace("second.md", "second.ipynb"), "utf-8")
    nbformat.write(notebook, folder / "second.ipynb")
    result = sitecheck.build(folder, folder)
    assert result.returncode == 0, result.stdout
    html = (folder / "_build/html/second.html").read_text("utf-8")
    found = re.findall(r'<div class="exercise[^>]* id="(.*?)">(.*?)<details[^>]*class="solution', html, re.DOTALL)
    boxes = {label: re.findall(r'<toytf-answer data-exercise="([\d.]+)">', text) for label, text in found}
    assert boxes == {"ex-04-1": ["4.1"], "ex-04-4": [], "ex-09-1": ["9.1"]}
    for label, text in found:  # what one can tap comes first
        assert not boxes[label] or text.index("Compute.") < text.index("<toytf-answer") < text.index("Check it with")
    assert re.findall(r"_static/live-(\w+)\.js\?", html) == ["base", "answer"]
    page = browser.new_page()
    page.goto((folder / "_build/html/second.html").as_uri())
    assert [said.is_visible() for said in page.get_by_text("Check it with").all()] == [False, True, False]
    page.locator("toytf-answer summary").first.click()
    for k, number in enumerate("428"):
        page.locator(".answer-part input").nth(k).fill(number)  # which waits: opened, the box makes its cells
    page.get_by_role("button", name="Check", exact=True).click()
    assert said(page, 0) == ["4.1: right."]
    page.close()
