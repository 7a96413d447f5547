"""The replays hold every number, remark and topic of their sources, each once, with its words and its check."""

import copy
import json

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookcheck import pages, reading
from replays import published

ENTRIES = json.loads(reading.PUBLISHED_DATA.read_text(encoding="utf-8"))


def remarks(source):
    path = reading.PUBLISHED_DATA.with_name(f"remarks{source}.json")
    return json.loads(path.read_text(encoding="utf-8"))


def replay(source):
    return reading.read_notebook(reading.ROOT / "book" / f"{published.REPLAYS[source]}.ipynb")


# ---------------------------------------------------------------------------------------
# The book's own replays


@pytest.mark.parametrize("source", range(5))
def test_a_replay_has_every_number_and_every_remark_once_with_its_check(source):
    problems = pages.replay_problems(replay(source), source, ENTRIES, remarks(source))
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("source", range(5))
def test_every_remark_has_the_words_with_their_context_and_a_kind(source):
    problems = pages.remark_problems(remarks(source), published.KINDS, published.OWNERS)
    assert not problems, "\n".join(problems)


def test_every_topic_of_the_sources_has_a_home():
    problems = pages.topic_problems([replay(source) for source in range(5)])
    assert not problems, "\n".join(problems)


def test_there_are_140_topics_and_exercises():
    assert len(pages.topic_ids()) == len(set(pages.topic_ids())) == 140


# ---------------------------------------------------------------------------------------
# Planted mistakes

SAID = {
    "title": "the row for World",
    "chapter": "03",
    "where": "section 2",
    "kind": "error",
    "whose": "author",
    "quote": "0.99",
    "means": "",
    "context": "After the formula.",
}
DATA = {"E0-02": SAID, "E0-07": {**SAID, "title": "a word", "kind": "translation", "whose": "Chinese edition"}}
NUMBERS = [
    {"id": "s0-a", "source": 0, "step": "positions"},
    {"id": "s0-b", "source": 0, "step": "positions"},
    {"id": "s1-a", "source": 1, "step": "far-away"},
]


COURSE = "*In the course:* [a](../notebooks/03_p.ipynb#b) (T0-01)"


def page(
    table='published.table("s0-a", "s0-b")',
    first="## Positions",
    second="#### E0-07: a word",
    fact=pages.FACT,
    course=COURSE,
):
    """A replay with one step, two numbers and two remarks, the second without code."""
    shown = [new_output("stream", name="stdout", text="0.5403\n")]
    return new_notebook(
        cells=[
            new_markdown_cell(f"# A replay\n\n{first}\n\n{course}"),
            new_code_cell(table, outputs=shown),
            new_markdown_cell("#### E0-02: the row for World"),
            new_code_cell('published.remark("E0-02")', outputs=shown),
            new_code_cell("print(1)", outputs=shown),
            new_markdown_cell(second),
            new_code_cell('published.remark("E0-07")', outputs=shown),
            new_markdown_cell(f"It is a word.\n\n{fact}"),
        ]
    )


def problems(nb=None, entries=NUMBERS, data=DATA):
    return pages.replay_problems(nb or page(), 0, entries, data)


def test_a_good_replay_passes():
    assert problems() == []


@pytest.mark.parametrize(
    ("planted", "message"),
    [
        (page(table='published.table("s0-a")'), "s0-b is in no table"),
        (page(table='published.table("s0-a", "s0-b", "s0-a")'), "s0-a stands twice"),
        (page(table='published.table("s0-a", "s0-b", "s1-a")'), "s1-a is no entry of this source"),
        (page(first="## Places"), "s0-a stands at #places, and its step is #positions"),
        (page(second="#### E0-07: a token"), "E0-07 is «a token» in the replay and «a word» in the data"),
        (page(second="A word."), "E0-02 has no cell"),
        (page(second="#### E0-02: the row for World"), "E0-02 stands twice"),
        (page(second="#### E0-08: a word"), "E0-08 has no cell"),
        (page(fact=""), "E0-07 has no check that was executed"),
        (page(course="See"), "the step «Positions» has numbers and leads nowhere"),
    ],
)
def test_a_planted_mistake_in_a_replay_is_caught(planted, message):
    assert any(problem.startswith(message) for problem in problems(planted)), problems(planted)


def test_a_remark_whose_check_was_not_executed_is_caught():
    nb = page()
    nb.cells[4].outputs = []
    assert problems(nb) == [f"E0-02 has no check that was executed, and is not said to be «{pages.FACT}»"]


def test_a_remark_that_only_the_data_know_is_caught():
    assert problems(data={**DATA, "E0-09": SAID}) == ["E0-09 is not in the replay"]


def test_a_remark_that_only_the_replay_knows_is_caught():
    assert problems(data={"E0-02": SAID}) == ["E0-07 is in the replay and not in the data"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"quote": " "}, "E0-02 has no quote"),
        ({"context": ""}, "E0-02 has no context"),
        ({"kind": "mistake"}, "E0-02: no kind 'mistake'"),
        ({"whose": "this course"}, "E0-02: kind error and whose this course do not fit"),
        ({"kind": "translation"}, "E0-02: kind translation and whose author do not fit"),
        ({"kind": "withdrawn"}, "E0-02: kind withdrawn and whose author do not fit"),
        ({"quote": "位置"}, "E0-02 quotes Chinese and does not say what it means"),
    ],
)
def test_a_remark_that_is_not_whole_is_caught(change, message):
    assert pages.remark_problems(DATA, published.KINDS, published.OWNERS) == []
    planted = {**DATA, "E0-02": {**SAID, **change}}
    assert pages.remark_problems(planted, published.KINDS, published.OWNERS) == [message]


def test_a_topic_without_a_home_or_with_two_is_caught():
    text = "\n\n".join(f"*In the course:* [a](../notebooks/03_p.ipynb#b) ({topic})" for topic in pages.topic_ids())
    books = [new_notebook(cells=[]) for _ in range(5)]
    for source, nb in enumerate(books):
        mine = [line for line in text.split("\n\n") if line[-5 if line[-3] != "-" else -4] == str(source)]
        nb.cells.append(new_markdown_cell("\n\n".join(mine)))
    assert pages.topic_problems(books) == []

    def planted(old, new):
        changed = copy.deepcopy(books)
        changed[0].cells[0].source = changed[0].cells[0].source.replace(old, new)
        return pages.topic_problems(changed)

    assert planted("(T0-09)", "") == ["T0-09 has no home"]
    assert planted("(T0-09)", "(T0-09, T0-10)") == ["T0-10 stands 2 times"]
    assert planted("(T0-09)", "(T0-09, T0-54)") == ["T0-54 is no topic of the sources"]
    assert planted("(T0-09)", "(T0-09, T1-01)")[0] == "T1-01 stands in the replay of source 0"
    assert planted("ipynb#b) (T0-09)", "ipynb) (T0-09)") == ["T0-09: link to ../notebooks/03_p.ipynb names no section"]
