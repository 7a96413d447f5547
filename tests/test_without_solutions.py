"""The book that is built with TOYTF_SOLUTIONS=no: no file of it holds anything of a solution.

What a solution says is cut into runs of five words (numbers and symbols count as words). A run that
stands nowhere else in the book gives the solution away, in whatever file it turns up: a page, the
copy of a source, the search index. Single words, pictures and labels are looked for as well.

Solutions are found here by a pattern of this file's own, so that a mistake of `toytf.course.exercises`
cannot hide what it leaves behind.
"""

import ast
import base64
import functools
import html
import json
import re
import shutil
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sphinx.search.en import SearchEnglish

import sitecheck
from toytf.check import BY_HAND, CHECKS
from toytf.live import answer

ROOT = Path(__file__).resolve().parent.parent
RUN = 5
SOLUTION = re.compile(r"^(:{3,})\{solution\}.*?^\1$", re.DOTALL | re.MULTILINE)
STEM = functools.cache(SearchEnglish({}).stem)


# ---------------------------------------------------------------- what gives a solution away


def words(text):
    return re.findall(r"\w+", re.sub(r"\]\([^)]*\)", "]", text).lower())


def written(markdown):
    """A source without its formulas, which a page shows in other words (`text_of` leaves them out too)."""
    return re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$", " ", markdown, flags=re.DOTALL)


def runs(listed):
    """Runs with a word in them: one of digits and letters alone may stand in any table or figure."""
    found = (tuple(listed[i : i + RUN]) for i in range(len(listed) - RUN + 1))
    return {run for run in found if any(len(word) > 2 and not word.isdigit() for word in run)}


def stems(listed):
    return {STEM(word) for word in listed if not word.isdigit()}


def text_of(page):
    """What a page says: no tags, formulas and figures, and characters for entities."""
    return html.unescape(re.sub(r"<(script|style|math|svg)\b.*?</\1>|<[^>]+>", _blank, page, flags=re.DOTALL))


def _blank(tag):
    # Colours of code are spans inside of a line; every other tag parts words.
    return "" if tag[0].startswith(("<span", "</span")) else " "


def shown(cell):
    """The text and the pictures among a cell's outputs."""
    texts, pictures = [], []
    for output in cell.get("outputs", []):
        data = output.get("data", {"text/plain": output.get("text", "")})
        for kind, value in data.items():
            if kind == "image/png":
                pictures.append(base64.b64decode("".join(value)))
            elif kind == "text/html":
                texts.append(text_of("".join(value)))
            elif isinstance(value, (str, list)):
                texts.append("".join(value))
    return "\n".join(texts), pictures


@dataclass
class Secrets:
    """What only solutions have."""

    runs: dict = field(default_factory=dict)  # run of words -> where
    stems: set = field(default_factory=set)
    pictures: list = field(default_factory=list)
    without_run: list = field(default_factory=list)  # solutions that nothing would give away


def entries(package):
    """Heads and docstrings of a package, one after the other as a page has them: who has the package has them."""
    said = []
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                head = f"{node.name} {ast.unparse(node.args)}" if isinstance(node, ast.FunctionDef) else ""
                said.append(f"{head} {ast.get_docstring(node) or ''}")
    return said


def secrets(root):
    pages = [path.read_text("utf-8") for path in sorted((root / "book").glob("*.md"))]
    hidden, rest, pictures = [], [words(written(page)) for page in pages], []
    rest += [words(entry) for entry in [*entries(root / "toytf"), " ".join(CHECKS)]]
    open_stems = set().union(*(stems(words(page)) for page in pages))  # of formulas too: the search index has them
    for path in sorted([*root.glob("notebooks/*.ipynb"), *root.glob("book/*.ipynb")]):
        rest.append([])  # one text, since a run may reach from one cell into the next
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            source = written("".join(cell["source"])) if cell["cell_type"] == "markdown" else "".join(cell["source"])
            said, drawn = shown(cell)
            if "solution" in cell["metadata"].get("tags", []):
                hidden.append((f"{path.name}, cell {cell['id']}", words(source)))
                hidden.append((f"{path.name}, outputs of cell {cell['id']}", words(said)))
                pictures += drawn
            elif cell["cell_type"] == "markdown":
                for found in SOLUTION.finditer(source):
                    name = found[0].splitlines()[0]
                    hidden.append((f"{path.name}, {name}", words("\n".join(found[0].splitlines()[3:]))))
                rest[-1] += words(SOLUTION.sub("", source))
                open_stems |= stems(words(SOLUTION.sub("", "".join(cell["source"]))))
            else:
                rest[-1] += words(source) + words(said)
    open_runs = set().union(*map(runs, rest))
    open_stems |= set().union(*map(stems, rest))
    found = Secrets(pictures=pictures)
    for where, listed in hidden:
        own = runs(listed) - open_runs
        found.runs.update(dict.fromkeys(own, where))
        found.stems |= stems(word for word in listed if len(word) > 2) - open_stems
        if not own and "{solution}" in where:
            found.without_run.append(where)
    return found


def strings(node):
    """Every string in what JSON holds, keys too."""
    if isinstance(node, str):
        return [node]
    if isinstance(node, dict):
        return [one for pair in node.items() for part in pair for one in strings(part)]
    return [one for part in node for one in strings(part)] if isinstance(node, list) else []


def leaks(site, known):
    """One line for each file of the site that holds something of a solution."""
    problems = []
    for path in sorted(path for path in site.rglob("*") if path.is_file()):
        name, content = path.relative_to(site).as_posix(), path.read_bytes()
        if any(picture in content for picture in known.pictures):
            problems.append(f"{name}: a picture of a solution")
        if path.name == "objects.inv":
            content = zlib.decompress(content.split(b"\n", 4)[4])
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            continue
        # Its data are a script, which no run is read of. A command is called `toytf answers`.
        if re.search(r"toytf-answer\b", text) or "live-answer" in path.name:
            problems.append(f"{name}: a box for answers")
        if found := re.search(r"\bsol-\d\d-\d+", text):
            problems.append(f"{name}: the label {found[0]}")
        texts = [text]
        if path.suffix == ".md":
            texts = [written(text)]
        elif path.name == "toytf_numbers.js":
            texts = re.findall(r'"[^"]*"', text)  # each by itself
        elif path.suffix == ".ipynb":
            cells = json.loads(text)["cells"]
            texts = ["\n".join(written("".join(cell["source"])) + "\n" + shown(cell)[0] for cell in cells)]
        elif path.suffix == ".html":
            texts = [text_of(text)]
        elif path.name == "searchindex.js":
            index = json.loads(text[text.index("{") : text.rindex("}") + 1])
            if both := sorted(known.stems & {*index["terms"], *index["titleterms"]}):
                problems.append(f"{name}: {', '.join(both[:9])}")
            texts = strings(index)  # each by itself; its numbers say which pages a word is on
        for run in sorted(set().union(*(runs(words(text)) for text in texts)) & known.runs.keys())[:3]:
            problems.append(f"{name}: {' '.join(run)!r} ({known.runs[run]})")
    return problems


# ---------------------------------------------------------------- the site


@pytest.fixture(scope="module")
def known():
    return secrets(ROOT)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The book, built without solutions into a folder in which another build had left something."""
    output = tmp_path_factory.mktemp("site")
    left = output / "_build" / "html" / "_images"
    left.mkdir(parents=True)
    (left / "left.html").write_text("sol-09-1", "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOYTF_SOLUTIONS", "no")
        result = sitecheck.build(ROOT, output)
    assert result.returncode == 0, result.stdout
    return output / "_build" / "html"


def test_there_is_something_to_look_for(known):
    assert len({where for where in known.runs.values() if "{solution}" in where}) >= 100
    assert known.without_run == []
    assert len(known.stems) > 50


def test_no_file_of_the_site_holds_anything_of_a_solution(site, known):
    assert leaks(site, known) == []


def test_the_exercises_are_still_there(site):
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        there = path.read_text("utf-8").count("{exercise}")
        assert there >= 5
        assert (site / "notebooks" / f"{path.stem}.html").read_text("utf-8").count(
            'class="exercise admonition'
        ) == there
        assert (site / "_sources" / "notebooks" / path.name).read_text("utf-8").count("### Exercise ") == there


def test_every_link_leads_somewhere(site):
    assert sitecheck.link_problems(site) == []


# ---------------------------------------------------------------- planted solutions


def first_solution():
    for cell in json.loads(next(ROOT.glob("notebooks/09_*.ipynb")).read_text("utf-8"))["cells"]:
        if found := SOLUTION.search("".join(cell["source"])):
            return found[0]
    raise AssertionError("no solution in chapter 9")


def in_notebook(cell):
    return json.dumps({"cells": [cell]})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("page.html", lambda text: f"<p>{html.escape(text)}</p>"),
        ("page.html", lambda text: "<pre>" + re.sub(r"(\w+)", r'<span class="n">\1</span>', text) + "</pre>"),
        ("_sources/page.ipynb", lambda text: in_notebook({"source": text.splitlines(keepends=True)})),
        ("_sources/page.md", lambda text: text),
        (
            "_sources/page.ipynb",
            lambda text: in_notebook({"source": "", "outputs": [{"text": text.splitlines(keepends=True)}]}),
        ),
        ("_static/data.js", lambda text: f"var said = {json.dumps(text.replace(chr(10), ' '))}"),
    ],
    ids=["page", "coloured code", "notebook", "Markdown", "output", "script"],
)
def test_a_planted_solution_is_found(tmp_path, known, name, content):
    text = "\n".join(first_solution().splitlines()[4:])
    assert "sol-" not in text
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(content(text), "utf-8")
    assert [line for line in leaks(tmp_path, known) if line.startswith(name)]


def test_a_planted_word_label_and_picture_are_found(tmp_path):
    known = Secrets(stems={"secret"}, pictures=[b"\x89PNG\xff"])
    index = {"terms": {"secret": 1}, "titleterms": {}}
    (tmp_path / "searchindex.js").write_text(f"Search.setIndex({json.dumps(index)})", "utf-8")
    (tmp_path / "objects.inv").write_bytes(b"1\n2\n3\n4\n" + zlib.compress(b"sol-09-1 std:label"))
    (tmp_path / "picture.png").write_bytes(b"..\x89PNG\xff..")
    assert leaks(tmp_path, known) == [
        "objects.inv: the label sol-09-1",
        "picture.png: a picture of a solution",
        "searchindex.js: secret",
    ]


@pytest.mark.parametrize("name", ["page.html", "_static/live-answer.js"])
def test_a_planted_box_for_answers_is_found(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    box = answer.box(BY_HAND["9.1"])
    (tmp_path / name).write_text(box if name == "page.html" else "customElements.define", "utf-8")
    assert leaks(tmp_path, Secrets()) == [f"{name}: a box for answers"]


def test_a_site_with_solutions_is_full_of_leaks(tmp_path, known):
    """What the build would copy, if nothing were left out."""
    shutil.copytree(ROOT / "notebooks", tmp_path / "_sources", ignore=shutil.ignore_patterns(".*"))
    assert {line.split(":")[0] for line in leaks(tmp_path, known)} == {
        f"_sources/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")
    }


def test_a_setting_of_another_kind_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("TOYTF_SOLUTIONS", "maybe")
    result = sitecheck.build(ROOT, tmp_path)
    assert result.returncode != 0
    assert 'TOYTF_SOLUTIONS: expected "yes" or "no", got "maybe"' in result.stdout
