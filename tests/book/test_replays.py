"""The replays hold every number, remark and topic of their sources, each once, with its words and its check."""

import ast
import json
import re
from collections import Counter
from dataclasses import dataclass, field

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookcheck import reading
from bookcheck.links import heading_slugs, headings, links
from replays import published

ENTRIES = json.loads(reading.PUBLISHED_DATA.read_text("utf-8"))
REMARKS = [json.loads(reading.PUBLISHED_DATA.with_name(f"remarks{k}.json").read_text("utf-8")) for k in range(5)]
TOPICS = [f"T{k}-{n + 1:02d}" for k, last in enumerate((53, 37, 11, 17, 14)) for n in range(last)]
TOPICS += [f"X0-{n + 1}" for n in range(8)]  # and its exercises
FACT = "*Check:* a fact about the text"
REMARK = re.compile(r"(E\d-\d\d): (\S.*)")
COURSE = re.compile(r"^\*In the course:\* (.*?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
# [one](a.ipynb#b), [two](c.ipynb#d) (T0-08, T0-09)
HOMES = re.compile(r"((?:\[[^\]]*\]\([^)]*\)[,\s]*)+)\(((?:[TX]\d-\d+(?:,\s*)?)+)\)")


@dataclass
class Part:
    """What stands from one heading of a replay to the next; its step is the nearest heading that is no remark's."""

    title: str = ""
    step: str = ""
    text: str = ""
    cells: list = field(default_factory=list)

    def called(self, name):
        """The texts that its cells give to ``published.name(...)``."""
        nodes = [node for cell in self.cells for node in ast.walk(reading.syntax_tree(cell.source) or ast.Pass())]
        calls = [n for n in nodes if isinstance(n, ast.Call) and ast.unparse(n.func) == f"published.{name}"]
        return [argument.value for call in calls for argument in call.args if isinstance(argument, ast.Constant)]


def parts(nb):
    found, headed = [Part()], ""
    for cell in nb.cells:
        if cell.cell_type == "code":
            found[-1].cells.append(cell)
            continue
        for text in re.split(r"^(?=#{1,6}\s)", cell.source, flags=re.MULTILINE):
            if heading := headings(text):
                headed += f"\n\n{'#' * heading[0][0]} {heading[0][1]}"
                is_remark = REMARK.fullmatch(heading[0][1])
                step = found[-1].step if is_remark else heading_slugs(headed)[-1]
                found.append(Part(heading[0][1], step))
            found[-1].text += f"\n{text}"
    return found


def number_problems(nb, entries):
    """Each number stands once, below its step, which leads into the course."""
    tables = [(name, part.step) for part in parts(nb) for name in part.called("table")]
    wanted = [(entry["id"], entry["step"]) for entry in entries]
    yield from (f"{name} stands at #{step}, and should not" for name, step in (Counter(tables) - Counter(wanted)))
    yield from (f"{name} does not stand at #{step}" for name, step in (Counter(wanted) - Counter(tables)))
    for part in parts(nb):
        if part.called("table") and not REMARK.fullmatch(part.title) and not COURSE.search(part.text.strip()):
            yield f"the step «{part.title}» has numbers and leads nowhere in the course"


def remark_problems(nb, remarks):
    """Each remark has its heading, its cell, and a check that was executed or a fact that one can look up."""
    said = [f"{name}: {remark['title']}" for name, remark in remarks.items()]
    found = [part for part in parts(nb) if part.called("remark") or REMARK.fullmatch(part.title)]
    if sorted(part.title for part in found) != sorted(said):
        yield f"expected the remarks {sorted(said)}, got {sorted(part.title for part in found)}"
    for part in found:
        if part.called("remark") != [part.title.partition(":")[0]]:
            yield f"«{part.title}» has no cell of its own"
        if sum(bool(cell.outputs) for cell in part.cells) < 2 and FACT not in part.text:
            yield f"«{part.title}» has no check"


def words_problems(remarks):
    """Each remark has the words that it is about, what stands around them, a kind and an owner that fit."""
    fits = {"translation": {"Chinese edition"}, "extraction": {"web copy"}, "withdrawn": {"this course"}}
    authors = set(published.OWNERS) - {"this course", "web copy"}
    for name, said in remarks.items():
        if not all(said[part].strip() for part in ("quote", "context", "where")) or said["kind"] not in published.KINDS:
            yield f"{name} is not whole"
        if said["whose"] not in fits.get(said["kind"], authors):
            yield f"{name}: kind {said['kind']} and whose {said['whose']} do not fit"
        if re.search(r"[\u4e00-\u9fff]", said["quote"]) and not said["means"].strip():
            yield f"{name} quotes Chinese and does not say what it means"


def topic_problems(notebooks):
    """Each topic is named once, in the replay of its source, after links to sections of the course."""
    found = []
    for source, nb in enumerate(notebooks):
        for part in parts(nb):
            for homes, topics in (two for line in COURSE.findall(part.text) for two in HOMES.findall(line)):
                found += (mine := re.findall(r"[TX]\d-\d+", topics))
                yield from (f"{topic} stands in replay {source}" for topic in mine if topic[1] != str(source))
                yield from (
                    f"{mine}: {to} names no section" for to, at in links(homes) if "notebooks/" in to and not at
                )
    if sorted(found) != sorted(TOPICS):
        missing, more = Counter(TOPICS) - Counter(found), Counter(found) - Counter(TOPICS)
        yield f"expected each topic once, got none of {[*missing]}, more of {[*more]}"


def replay(source):
    return reading.read_notebook(reading.ROOT / "book" / f"{published.REPLAYS[source]}.ipynb")


@pytest.mark.parametrize("source", range(5))
def test_a_replay_has_every_number_and_every_remark_once_with_its_words_and_its_check(source):
    assert [*number_problems(replay(source), [entry for entry in ENTRIES if entry["source"] == source])] == []
    assert [*remark_problems(replay(source), REMARKS[source])] == []
    assert [*words_problems(REMARKS[source])] == []


def test_every_topic_of_the_sources_has_a_home():
    assert [*topic_problems([replay(source) for source in range(5)])] == []


# ---------------------------------------------------------------- planted mistakes

SHOWN = [new_output("stream", text="0.5403\n")]
CELLS = [
    "# A replay\n\n## Positions\n\n*In the course:* [a](../notebooks/03_p.ipynb#b) (T0-01)",
    'published.table("s0-a", "s0-b")',
    "#### E0-02: the row for World",
    'published.remark("E0-02")',
    "print(1)",
    "#### E0-07: a word",
    'published.remark("E0-07")',
    f"It is a word.\n\n{FACT}",
]
SAID = {"where": "2", "kind": "error", "whose": "author", "quote": "0.99", "means": "", "context": "After it."}
SAID = {"E0-02": {**SAID, "title": "the row for World"}, "E0-07": {**SAID, "title": "a word"}}


def page(old="", new=""):
    """A replay with one step, two numbers and two remarks, the second without code."""
    cells = [cell.replace(old, new) if old else cell for cell in CELLS]
    is_code = re.compile(r"published|print")
    return new_notebook(
        cells=[new_code_cell(one, outputs=SHOWN) if is_code.match(one) else new_markdown_cell(one) for one in cells]
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        (', "s0-b"', "", "s0-b does not stand at #positions"),
        ('"s0-b"', '"s0-b", "s0-a"', "s0-a stands at #positions, and should not"),
        ("## Positions", "## Places", "s0-a stands at #places"),
        ("*In the course:*", "See", "the step «Positions» has numbers and leads nowhere"),
        ("E0-07: a word", "E0-07: a token", "expected the remarks"),
        ('remark("E0-07")', 'remark("E0-02")', "«E0-07: a word» has no cell"),
        (FACT, "", "«E0-07: a word» has no check"),
        ("print(1)", "No check.", "«E0-02: the row for World» has no check"),
    ],
)
def test_a_planted_mistake_in_a_replay_is_caught(old, new, message):
    nb, entries = page(old, new), [{"id": "s0-a", "step": "positions"}, {"id": "s0-b", "step": "positions"}]
    found = [*number_problems(nb, entries), *remark_problems(nb, SAID)]
    assert found == [] if message is None else any(one.startswith(message) for one in found), found


@pytest.mark.parametrize("change", [{"quote": " "}, {"kind": "mistake"}, {"kind": "translation"}, {"quote": "位置"}])
def test_a_remark_that_is_not_whole_is_caught(change):
    assert [*words_problems(SAID)] == []
    assert len([*words_problems({"E0-02": SAID["E0-02"] | change})]) == 1


def test_a_topic_without_a_home_or_with_two_is_caught():
    def found(old=" ", new=" "):
        line = "*In the course:* [a](../notebooks/03_p.ipynb#b) ({})"
        texts = ["\n\n".join(line.format(topic) for topic in TOPICS if topic[1] == str(k)) for k in range(5)]
        return [*topic_problems([new_notebook(cells=[new_markdown_cell(one.replace(old, new))]) for one in texts])]

    assert found() == []
    for new in ("", "(T0-09, T0-10)", "(T0-09, T0-54)", "(T0-09, T1-01)"):
        assert found("(T0-09)", new)
    assert "names no section" in found("ipynb#b) (T0-09)", "ipynb) (T0-09)")[0]
