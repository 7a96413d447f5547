"""The replays, with their numbers, remarks and topics."""

import ast
import re

from bookcheck.links import heading_slugs, headings, links
from bookcheck.reading import syntax_tree

# How many topics, and exercises, each source has.
TOPICS = {"T0": 53, "T1": 37, "T2": 11, "T3": 17, "T4": 14}

EXERCISES = 8


def topic_ids():
    """The id of every topic and exercise of the five sources."""
    topics = [f"{source}-{n:02d}" for source, last in TOPICS.items() for n in range(1, last + 1)]
    return topics + [f"X0-{n}" for n in range(1, EXERCISES + 1)]


# ---------------------------------------------------------------- replays

_REMARK = re.compile(r"(E\d-\d\d): (\S.*)")
_TOPICS = re.compile(r"^\*In the course:\* (.*?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
# [one](a.ipynb#b), [two](c.ipynb#d) (T0-08, T0-09)
_HOMES = re.compile(r"((?:\[[^\]]*\]\([^)]*\)[,\s]*)+)\(((?:[TX]\d-\d+(?:,\s*)?)+)\)")
FACT = "*Check:* a fact about the text"


def steps(nb):
    """``(slug of the step, slug of the heading, its title, text, code cells)`` of each part of a replay.

    A part is what stands from one heading to the next. Its step is the nearest heading that is
    not a remark's.
    """
    parts, step = [("", "", "", "", [])], ""
    taken = []
    for cell in nb.cells:
        if cell.cell_type == "code":
            parts[-1][4].append(cell)
            continue
        for text in re.split(r"^(?=#{1,6}\s)", cell.source, flags=re.MULTILINE):
            if heading := headings(text):
                level, title = heading[0]
                slug = heading_slugs("\n\n".join([*taken, f"{'#' * level} {title}"]))[-1]
                taken.append(f"{'#' * level} {title}")
                step = step if _REMARK.fullmatch(title) else slug
                parts.append((step, slug, title, text, []))
            elif text.strip():
                one = parts[-1]
                parts[-1] = (*one[:3], one[3] + "\n" + text, one[4])
    return parts


def called(cell, name):
    """The texts that a cell gives to ``published.name(...)``."""
    calls = [
        node
        for node in ast.walk(syntax_tree(cell.source) or ast.Module([], []))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"published.{name}"
    ]
    return [argument.value for call in calls for argument in call.args if isinstance(argument, ast.Constant)]


def replay_problems(nb, source, entries, remarks):
    """A replay has each entry of its source once, below its step, and each remark with words and a check."""
    problems, numbers, said = [], {}, {}
    for step, slug, title, text, cells in steps(nb):
        if step == slug and any(called(cell, "table") for cell in cells) and not _TOPICS.search(text.strip()):
            problems.append(f"the step «{title}» has numbers and leads nowhere in the course")
        for cell in cells:
            for name in called(cell, "table"):
                if name in numbers:
                    problems.append(f"{name} stands twice")
                numbers[name] = step
        found = [name for cell in cells for name in called(cell, "remark")]
        heading = _REMARK.fullmatch(title)
        if not heading:
            problems += [f"{name} stands below «{title}», and has no heading of its own" for name in found]
            continue
        name, words = heading.groups()
        if name in said:
            problems.append(f"{name} stands twice")
        said[name] = words
        if found != [name]:
            problems.append(f'{name} has no cell published.remark("{name}") of its own')
        checks = [cell for cell in cells if cell.outputs and not called(cell, "remark")]
        if not checks and FACT not in text:
            problems.append(f"{name} has no check that was executed, and is not said to be «{FACT}»")
    mine = {entry["id"]: entry for entry in entries if entry["source"] == source}
    problems += [f"{name} is in no table" for name in mine if name not in numbers]
    problems += [f"{name} is no entry of this source" for name in numbers if name not in mine]
    problems += [
        f"{name} stands at #{numbers[name]}, and its step is #{entry.get('step')}"
        for name, entry in mine.items()
        if name in numbers and numbers[name] != entry.get("step")
    ]
    problems += [f"{name} is not in the replay" for name in remarks if name not in said]
    for name, words in said.items():
        if name not in remarks:
            problems.append(f"{name} is in the replay and not in the data")
        elif remarks[name]["title"] != words:
            problems.append(f"{name} is «{words}» in the replay and «{remarks[name]['title']}» in the data")
    return problems


def remark_problems(remarks, kinds, owners):
    """Each remark has the words that it is about, what stands around them, a kind and an owner that fit."""
    fits = {"translation": {"Chinese edition"}, "extraction": {"web copy"}, "withdrawn": {"this course"}}
    problems = []
    for name, said in remarks.items():
        problems += [f"{name} has no {part}" for part in ("quote", "context", "where") if not said[part].strip()]
        if said["kind"] not in kinds:
            problems.append(f"{name}: no kind {said['kind']!r}")
        if said["whose"] not in fits.get(said["kind"], set(owners) - {"this course", "web copy"}):
            problems.append(f"{name}: kind {said['kind']} and whose {said['whose']} do not fit")
        if re.search(r"[\u4e00-\u9fff]", said["quote"]) and not said["means"].strip():
            problems.append(f"{name} quotes Chinese and does not say what it means")
    return problems


def topic_homes(nb):
    """``(topic, links)`` of every topic that a replay names after the links that lead to it."""
    return [
        (topic, links(home))
        for cell in nb.cells
        if cell.cell_type == "markdown"
        for line in _TOPICS.findall(cell.source)
        for home, topics in _HOMES.findall(line)
        for topic in re.findall(r"[TX]\d-\d+", topics)
    ]


def topic_problems(notebooks):
    """Every topic of source k is named once, in replay k, after a link to a section of the course."""
    problems, homes = [], []
    for source, nb in enumerate(notebooks):
        for topic, found in topic_homes(nb):
            homes.append(topic)
            if topic[1] != str(source):
                problems.append(f"{topic} stands in the replay of source {source}")
            problems += [f"{topic}: link to {to} names no section" for to, at in found if "notebooks/" in to and not at]
    known = topic_ids()
    problems += [f"{topic} has no home" for topic in known if topic not in homes]
    problems += [f"{topic} stands {homes.count(topic)} times" for topic in sorted(set(homes)) if homes.count(topic) > 1]
    return problems + [f"{topic} is no topic of the sources" for topic in sorted(set(homes) - set(known))]


# ---------------------------------------------------------------- chapters

MOST_NAMINGS = 3


def namings(markdown, sources):
    """Each place where a text names one of the sources, in its words."""
    return [m[0] for source in sources for m in re.finditer(r"\s+".join(source.split()), markdown, re.IGNORECASE)]
