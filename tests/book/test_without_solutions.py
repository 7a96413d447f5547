"""The book that is built with TOYTF_SOLUTIONS=no: no file of it holds anything of a solution.

What a solution says is cut into runs of five words (numbers and symbols count as words). A run that stands nowhere else
in the book gives the solution away, in whatever file it turns up: a page, the copy of a source, the search index.

Solutions are found here by a pattern of this file's own, so that a mistake of `toytf.course.exercises` cannot hide what
it leaves behind.
"""

import ast
import base64
import html
import json
import re
import shutil
import zlib

import pytest

import sitecheck
from sitecheck import ROOT
from toytf.check import BY_HAND, CHECKS
from toytf.live import answer

RUN = 5
SOLUTION = re.compile(r"^(:{3,})\{solution\}.*?^\1$", re.DOTALL | re.MULTILINE)


# ---------------------------------------------------------------- what gives a solution away


def words(text):
    return re.findall(r"\w+", re.sub(r"\]\([^)]*\)", "]", text).lower())


def runs(listed):
    """Runs with a word in them: one of digits and letters alone may stand in any table or figure."""
    found = (tuple(listed[i : i + RUN]) for i in range(len(listed) - RUN + 1))
    return {run for run in found if any(len(word) > 2 and not word.isdigit() for word in run)}


def written(markdown):
    """A source without its formulas, which a page shows in other words (`text_of` leaves them out too)."""
    return re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$", " ", markdown, flags=re.DOTALL)


def text_of(page):
    """What a page says: no tags, formulas and figures, and characters for entities."""

    # Colours of code are spans inside of a line; every other tag parts words.
    def blank(tag):
        return "" if tag[0].startswith(("<span", "</span")) else " "

    return html.unescape(re.sub(r"<(script|style|math|svg)\b.*?</\1>|<[^>]+>", blank, page, flags=re.DOTALL))


def shown(cell):
    """The text and the pictures among a cell's outputs."""
    texts, pictures = [], []
    for output in cell.get("outputs", []):
        for kind, value in output.get("data", {"text/plain": output.get("text", "")}).items():
            if kind == "image/png":
                pictures.append(base64.b64decode("".join(value)))
            elif isinstance(value, (str, list)):
                texts.append(text_of("".join(value)) if kind == "text/html" else "".join(value))
    return "\n".join(texts), pictures


def entries(package):
    """Heads and docstrings of a package, one after the other as a page has them: who has the package has them."""
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                head = f"{node.name} {ast.unparse(node.args)}" if isinstance(node, ast.FunctionDef) else ""
                yield f"{head} {ast.get_docstring(node) or ''}"


def secrets(root):
    """What only solutions have: from each run of words to where it stands, their pictures, those without a run."""
    rest = [words(written(path.read_text("utf-8"))) for path in sorted((root / "book").glob("*.md"))]
    rest += [words(entry) for entry in [*entries(root / "toytf"), " ".join(CHECKS)]]
    hidden, pictures = [], []
    for path in sorted([*root.glob("notebooks/*.ipynb"), *root.glob("book/*.ipynb")]):
        rest.append([])  # one text, since a run may reach from one cell into the next
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            source, (said, drawn) = "".join(cell["source"]), shown(cell)
            if "solution" in cell["metadata"].get("tags", []):
                hidden += [(f"{path.name}, cell {cell['id']}", words(text)) for text in (source, said)]
                pictures += drawn
            elif cell["cell_type"] == "markdown":
                for found in SOLUTION.finditer(written(source)):
                    name, _, _, *lines = found[0].splitlines()
                    hidden.append((f"{path.name}, {name}", words("\n".join(lines))))
                rest[-1] += words(SOLUTION.sub("", written(source)))
            else:
                rest[-1] += words(source) + words(said)
    open_runs = set().union(*map(runs, rest))
    own = [(where, runs(listed) - open_runs) for where, listed in hidden]
    known = {run: where for where, found in own for run in found}
    return known, pictures, [where for where, found in own if not found and "{solution}" in where]


def texts_of(path, text):
    """The texts of a file, each of which is read by itself."""
    if path.name == "toytf_numbers.js":
        return re.findall(r'"[^"]*"', text)
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        return ["\n".join(written("".join(cell["source"])) + "\n" + shown(cell)[0] for cell in cells)]
    return [{".md": written, ".html": text_of}.get(path.suffix, str)(text)]


def leaks(site, known, pictures=()):
    """One line for each file of the site that holds something of a solution."""
    problems = []
    for path in sorted(path for path in site.rglob("*") if path.is_file()):
        name, content = path.relative_to(site).as_posix(), path.read_bytes()
        if any(picture in content for picture in pictures):
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
        given = set().union(*(runs(words(part)) for part in texts_of(path, text))) & known.keys()
        problems += [f"{name}: {' '.join(run)!r} ({known[run]})" for run in sorted(given)[:3]]
    return problems


# ---------------------------------------------------------------- the site


@pytest.fixture(scope="module")
def known():
    runs_of_solutions, pictures, without_run = secrets(ROOT)
    assert without_run == []  # nothing would give such a solution away
    assert len({where for where in runs_of_solutions.values() if "{solution}" in where}) >= 100
    return runs_of_solutions, pictures


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The book, built without solutions into a folder in which another build had left something."""
    output = tmp_path_factory.mktemp("site")
    left = output / "_build" / "html" / "_images"
    left.mkdir(parents=True)
    (left / "left.html").write_text("sol-09-1", "utf-8")
    result = sitecheck.build(ROOT, output, TOYTF_SOLUTIONS="no")
    assert result.returncode == 0, result.stdout
    return output / "_build" / "html"


def test_no_file_of_the_site_holds_anything_of_a_solution_and_every_link_leads_somewhere(site, known):
    assert leaks(site, *known) == []
    assert sitecheck.link_problems(site) == []


def test_the_exercises_are_still_there(site):
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        there = path.read_text("utf-8").count("{exercise}")
        page = (site / "notebooks" / f"{path.stem}.html").read_text("utf-8")
        source = (site / "_sources" / "notebooks" / path.name).read_text("utf-8")
        assert there >= 5 and (page.count('class="exercise admonition'), source.count("### Exercise ")) == (
            there,
            there,
        )


def test_a_site_with_solutions_is_full_of_leaks(tmp_path, known):
    """What the build would copy, if nothing were left out; and a page, a picture, labels and a box of answers."""
    shutil.copytree(ROOT / "notebooks", tmp_path / "_sources", ignore=shutil.ignore_patterns(".*"))
    names = {f"_sources/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")}
    cells = json.loads(next(ROOT.glob("notebooks/09_*.ipynb")).read_text("utf-8"))["cells"]
    said = next(found[0] for cell in cells if (found := SOLUTION.search("".join(cell["source"]))))
    coloured = re.sub(r"(\w+)", r'<span class="n">\1</span>', html.escape(said))
    planted = {
        "page.html": f"<p>{html.escape(said)}</p>",
        "code.html": f"<pre>{coloured}</pre>",
        "page.md": said,
        "data.js": f"var said = {json.dumps(said.replace(chr(10), ' '))}",
        "box.html": answer.box(BY_HAND["9.1"]),
        "live-answer.js": "customElements.define",
    }
    for name, text in planted.items():
        (tmp_path / name).write_text(text.replace("sol-09", "sol"), "utf-8")
    (tmp_path / "objects.inv").write_bytes(b"1\n2\n3\n4\n" + zlib.compress(b"sol-09-1 std:label"))
    (tmp_path / "picture.png").write_bytes(b"..\x89PNG\xff..")
    found = {line.split(":")[0] for line in leaks(tmp_path, known[0], [b"\x89PNG\xff"])}
    assert found == {*names, *planted, "objects.inv", "picture.png"}


def test_a_setting_of_another_kind_is_an_error(tmp_path):
    result = sitecheck.build(ROOT, tmp_path, TOYTF_SOLUTIONS="maybe")
    assert result.returncode != 0
    assert 'TOYTF_SOLUTIONS: expected "yes" or "no", got "maybe"' in result.stdout
