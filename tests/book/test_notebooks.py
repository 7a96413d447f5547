"""What is stored of each notebook is whole and clean. That it is right nbval sees, which runs every cell again."""

import ast
import re

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from bookcheck import reading

EXEMPTING = re.compile(r"(?:nbval|pytest[-_]validate)[-_](?:skip|ignore[-_]output|raises[-_]exception)", re.IGNORECASE)
PATH = re.compile(
    r"(?<![\w.:/])/(?:home|root|tmp|work|usr|opt|var|Users|private)/"
    r"|\b[A-Z]:\\(?:Users|Windows|Program|Temp|temp|tmp)|site-packages|ipykernel_\d"
)
BARE = re.compile(
    r"\bnp\.(?:float|int|uint|bool|complex|str)\w*\(|\bnp\.(?:True|False)_|(?<!\.)\barray\(|\b0x[0-9a-f]{6,}"
)


def problems(nb):
    """Cells that nbval would pass over, warnings that nobody meant, and what depends on the machine."""
    for count, (index, cell) in enumerate(reading.code_cells(nb), start=1):
        at, said = reading.where("notebook", index, cell), [*reading.text_outputs(cell)]
        if cell.execution_count != count:  # one that was never executed nbval does not compare
            yield f"{at} has the count {cell.execution_count}, expected {count}"
        if found := EXEMPTING.search(" ".join([*reading.tags(cell), *re.findall(r"^\s*#.*$", cell.source, re.M)])):
            yield f"{at} is exempt from nbval: {found[0]}"
        if "stderr" in dict(said) and "shows-warning" not in reading.tags(cell):
            yield f"{at} shows a warning and is not tagged shows-warning"
        for kind, text in said:
            read = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)  # code is no output
            if found := PATH.search(read) or BARE.search(read):
                yield f"{at}: {found[0]!r} in its {kind}"


@pytest.mark.parametrize("path", reading.notebook_paths(), ids=lambda path: path.name)
def test_what_is_stored_of_a_notebook_is_whole_and_clean(path):
    assert [*problems(reading.read_notebook(path))] == []


@pytest.mark.parametrize(
    ("planted", "message"),
    [
        ({}, None),
        ({"execution_count": None}, "has the count None"),
        ({"metadata": {"tags": ["nbval-skip"]}}, "is exempt from nbval: nbval-skip"),
        ({"source": "# NBVAL_IGNORE_OUTPUT\n1"}, "is exempt from nbval: NBVAL_IGNORE_OUTPUT"),
        ({"outputs": [new_output("stream", name="stderr", text="overflow")]}, "shows a warning"),
        ({"outputs": [new_output("stream", text="/home/ada/a.txt")]}, "'/home/' in its stdout"),
        (
            {"outputs": [new_output("execute_result", {"text/plain": "np.float64(2.0)"})]},
            "'np.float64(' in its text/plain",
        ),
    ],
)
def test_a_planted_mistake_is_caught(planted, message):
    good = {"source": "print(2)", "execution_count": 1, "outputs": [new_output("stream", text="2\n")]}
    found = [*problems(new_notebook(cells=[new_code_cell(**(good | planted))]))]
    assert found == [] if message is None else len(found) == 1 and message in found[0]


# What makes weights; in chapter 15 `init` draws deep stacks to see how a gradient fares in them.
MAKERS = {"init", "normal", "uniform", "from_heads", "standard_normal"}
MEASURED = {"15_gradients.ipynb": {"init"}}


def invented(nb):
    """What makes weights of its own in a chapter, or takes those of Hello World, before its solutions."""
    shown = (cell.source for _, cell in reading.code_cells(nb) if "solution" not in reading.tags(cell))
    trees = [ast.parse(re.sub(r"^[%!].*$", "", source, flags=re.MULTILINE)) for source in shown]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    examples = [node.names for node in nodes if isinstance(node, ast.ImportFrom) and node.module == "toytf.example"]
    weights = {alias.name for names in examples for alias in names}
    calls = {getattr(node.func, "attr", getattr(node.func, "id", "")) for node in nodes if isinstance(node, ast.Call)}
    return (calls & MAKERS) | (weights & {node.id for node in nodes if isinstance(node, ast.Name)})


@pytest.mark.parametrize("path", reading.chapter_paths()[11:16], ids=lambda path: path.name)
def test_chapters_12_to_16_compute_on_the_translators_own_weights(path):
    nb = reading.read_notebook(path)
    assert invented(nb) <= MEASURED.get(path.name, set())
    assert any("Translator." in cell.source for _, cell in reading.code_cells(nb))


@pytest.mark.parametrize("planted", ["w = rng.normal(size=(4, 4))", "from toytf.example import W_K\nx @ W_K[0]"])
def test_invented_weights_are_found(planted):
    assert len(invented(new_notebook(cells=[new_code_cell(planted)]))) == 1
