"""Stored outputs: complete, in order, clean.

Each check takes a notebook and returns a list of sentences, one for each problem.
"""

import ast
import re

from bookcheck.reading import code_cells, pictures, syntax_tree, tags, text_outputs, where

# Cells that nbval may leave uncompared: {(notebook file name, cell id): reason}.
EXEMPT = {}


def execution_problems(nb, name):
    """Every code cell was executed, from top to bottom, in one go, without an error."""
    problems = []
    for count, (index, cell) in enumerate(code_cells(nb), start=1):
        at = where(name, index, cell)
        if not cell.source.strip():
            problems.append(f"{at} is empty")
        elif cell.execution_count is None:
            problems.append(f"{at} was never executed, so nbval does not compare it")
        elif cell.execution_count != count:
            problems.append(
                f"{at} has execution count {cell.execution_count} where {count} is due: "
                "execute the notebook from top to bottom"
            )
        for output in cell.outputs:
            result_count = output.get("execution_count", cell.execution_count)
            if result_count != cell.execution_count:
                problems.append(f"{at}: the stored result is numbered {result_count}")
    return problems


def _expects(source):
    """Which outputs a cell must have stored, as far as its source tells: a set of kinds."""
    tree = syntax_tree(source)
    if tree is None or not tree.body:
        return set()
    expected = set()
    for statement in tree.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "print":
            if not any(keyword.arg == "file" for keyword in call.keywords):
                expected.add("stdout")
    last = tree.body[-1]
    # A call may return None and show nothing; these forms always have a value.
    shows = (ast.BinOp, ast.Compare, ast.JoinedStr, ast.List, ast.Tuple, ast.Dict, ast.Constant)
    if isinstance(last, ast.Expr) and isinstance(last.value, shows):
        if not source.rstrip().endswith(";"):
            expected.add("execute_result")
    return expected


def stored_output_problems(nb, name):
    """What a cell plainly shows is stored: ``print`` has printed, a value stands below."""
    problems = []
    for index, cell in code_cells(nb):
        kinds = {o.get("name", o.output_type) for o in cell.outputs}
        for missing in sorted(_expects(cell.source) - kinds - ({"stdout"} if "error" in kinds else set())):
            problems.append(f"{where(name, index, cell)} has no stored {missing}")
    return problems


def error_and_warning_problems(nb, name):
    """Errors and warnings are stored only where a tag says that the page means to show them."""
    problems = []
    for index, cell in code_cells(nb):
        at = where(name, index, cell)
        has_error = any(o.output_type == "error" for o in cell.outputs)
        has_stderr = any(o.get("name") == "stderr" for o in cell.outputs)
        for present, tag, what in (
            (has_error, "raises-exception", "an error"),
            (has_stderr, "shows-warning", "stderr output"),
        ):
            if present and tag not in tags(cell):
                problems.append(f"{at} stores {what} and is not tagged {tag}")
            elif tag in tags(cell) and not present:
                problems.append(f"{at} is tagged {tag} and stores no such output")
    return problems


_SENTENCE = re.compile(r"^\S+(?:\s+\S+){5,}[.!?]$", re.DOTALL)

_LOOKS_LIKE_PATH = re.compile(r"\S+\.(?:png|svg|jpe?g|gif)\b|^\S*/\S*$", re.IGNORECASE)


def picture_problems(nb, name):
    """Every picture has an alternative text: a sentence, not a path, and its own."""
    problems = []
    for index, cell in code_cells(nb):
        at = where(name, index, cell)
        count = len(pictures(cell))
        alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
        if count and not alt:
            problems.append(f"{at} draws a picture and has no alternative text (mystnb.image.alt)")
        elif count and _LOOKS_LIKE_PATH.search(alt):
            problems.append(f"{at}: the alternative text is a path: {alt!r}")
        elif count and not _SENTENCE.match(alt.strip()):
            problems.append(f"{at}: the alternative text is not a sentence of six words: {alt!r}")
        elif alt and not count:
            problems.append(f"{at} has an alternative text and no picture")
        if count > 1:
            problems.append(f"{at} draws {count} pictures, which share one alternative text")
    for index, cell in enumerate(nb.cells):
        if cell.cell_type == "markdown":
            problems += [f"{where(name, index, cell)}: {p}" for p in image_problems(cell.source)]
    return problems


def image_problems(markdown):
    """A picture that is put in by Markdown or HTML has an alternative text too."""
    problems = []
    for found in re.finditer(r"!\[([^\]]*)\]\(([^)]*)\)", markdown):
        if not found[1].strip() or _LOOKS_LIKE_PATH.search(found[1]):
            problems.append(f"the picture {found[2]} has no alternative text")
    for found in re.finditer(r"<img\b[^>]*>", markdown):
        if not re.search(r"\balt=\"[^\"]+\"", found[0]):
            problems.append(f"the picture {found[0]} has no alternative text")
    for found in re.finditer(r"^\s*[:`]{3,}\{(?:figure|image)\}(.*\n(?:\s*:[\w-]+:.*\n)*)", markdown, re.MULTILINE):
        if not re.search(r":alt:\s*\S", found[1]):
            problems.append(f"the picture {found[1].split()[0]} has no alternative text")
    return problems


_MACHINE_PATH = re.compile(
    r"(?<![\w.:/])/(?:home|root|tmp|work|usr|opt|var|Users|private)/"
    r"|\b[A-Z]:\\(?:Users|Windows|Program|Temp|temp|tmp)"
    r"|site-packages|ipykernel_\d"
)


def path_problems(nb, name):
    """No path of the machine that executed the notebook is in a source or an output."""
    problems = []
    for index, cell in enumerate(nb.cells):
        texts = [("source", cell.source)]
        if cell.cell_type == "code":
            texts += text_outputs(cell)
        for kind, text in texts:
            if found := _MACHINE_PATH.search(text):
                problems.append(f"{where(name, index, cell)}: machine path {found[0]!r} in its {kind}")
    return problems


_REPRS = {
    "a NumPy scalar's repr": re.compile(r"\bnp\.(?:float|int|uint|bool|complex|str)\w*\(|\bnp\.(?:True|False)_"),
    "an array's repr": re.compile(r"(?<!\.)\barray\("),  # np.array( is code that a page shows
    "a memory address": re.compile(r"\b0x[0-9a-fA-F]{6,}"),
}


def repr_problems(nb, name):
    """Outputs are formatted: no bare repr, which differs between versions, and no address."""
    problems = []
    for index, cell in code_cells(nb):
        for kind, text in text_outputs(cell):
            read = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)  # code is no output
            for what, pattern in _REPRS.items():
                if found := pattern.search(read):
                    problems.append(f"{where(name, index, cell)}: {what} in its {kind}: {found[0]!r}")
    return problems


_SEEDED = {"default_rng", "Generator", "PCG64", "SeedSequence", "BitGenerator"}


def randomness_problems(nb, name):
    """Random numbers come from ``np.random.default_rng(seed)`` and from nothing else."""
    problems = []
    for index, cell in code_cells(nb):
        at = where(name, index, cell)
        for node in ast.walk(syntax_tree(cell.source) or ast.Module([], [])):
            if isinstance(node, ast.Attribute):
                owner = ast.unparse(node.value)
                if owner in ("np.random", "numpy.random") and node.attr not in _SEEDED:
                    problems.append(f"{at} uses {owner}.{node.attr}; use np.random.default_rng(seed)")
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("default_rng"):
                first = (node.args or [k.value for k in node.keywords] or [ast.Constant(None)])[0]
                if isinstance(first, ast.Constant) and first.value is None:
                    problems.append(f"{at} calls default_rng() without a seed")
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                modules = [a.name for a in node.names] + [getattr(node, "module", "")]
                if "random" in modules:
                    problems.append(f"{at} imports random; use np.random.default_rng(seed)")
    return problems


# What nbval compares; anything else would be stored and never checked.  Pictures are
# exempt as pictures: their data are printed or asserted.
_COMPARED = {"text/plain", "text/html", "text/markdown", "text/latex", "image/svg+xml", "image/png"}

_EXEMPTING = re.compile(
    r"(?:nbval|pytest[-_]validate)[-_](?:skip|ignore[-_]output|raises[-_]exception)",
    re.IGNORECASE,
)


def exemption_problems(nb, name, exempt=None):
    """nbval compares every cell, but for those that ``EXEMPT`` lists with a reason."""
    exempt = EXEMPT if exempt is None else exempt
    listed = {cell_id for (file, cell_id), reason in exempt.items() if file == name and reason}
    problems, used = [], set()
    for index, cell in code_cells(nb):
        at = where(name, index, cell)
        comments = "\n".join(re.findall(r"^\s*#.*$", cell.source, re.MULTILINE))
        found = [t for t in sorted(tags(cell)) if _EXEMPTING.fullmatch(t)]
        found += [f"comment {m}" for m in _EXEMPTING.findall(comments)]
        if found and cell.id in listed:
            used.add(cell.id)
        elif found:
            problems.append(f"{at} is exempt from nbval ({', '.join(found)}) and not listed in EXEMPT")
        for output in cell.outputs:
            for kind in sorted(set(output.get("data", {})) - _COMPARED):
                problems.append(f"{at} stores {kind}, which nbval does not compare")
    problems += [f"{name}: EXEMPT lists cell {i}, which is not exempt" for i in sorted(listed - used)]
    return problems


# What JupyterLab writes into a notebook when its kernel has started. A notebook that says so already is not
# "unsaved" as soon as it is opened.
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
FOLDED = {"outputs_hidden": True, "source_hidden": True}


def metadata_problems(nb, name):
    """Format 4.5, unique cell ids, solutions folded, and no metadata that changes from run to run or on opening."""
    problems = []
    if (nb.nbformat, nb.nbformat_minor) != (4, 5):
        problems.append(f"{name}: format {nb.nbformat}.{nb.nbformat_minor}, expected 4.5")
    if set(nb.metadata) != {"kernelspec", "language_info"}:
        problems.append(f"{name}: metadata {sorted(nb.metadata)}, expected kernelspec and language_info alone")
    if nb.metadata.get("language_info") != {"name": "python"}:
        problems.append(f"{name}: language_info must be {{'name': 'python'}}, or it stores a Python version")
    if nb.metadata.get("kernelspec") != KERNEL:
        problems.append(f"{name}: kernelspec must be {KERNEL}, or JupyterLab writes its own on opening")
    seen = set()
    for index, cell in enumerate(nb.cells):
        at = where(name, index, cell)
        if cell.get("id") in seen or not cell.get("id"):
            problems.append(f"{at}: the cell id is missing or stands twice")
        seen.add(cell.get("id"))
        if extra := set(cell.metadata) - {"tags", "mystnb", "jupyter"}:
            problems.append(f"{at}: metadata {sorted(extra)} beside tags and mystnb")
        folded = FOLDED if cell.cell_type == "code" and "solution" in tags(cell) else None
        if cell.metadata.get("jupyter") != folded:
            problems.append(f"{at}: folded in JupyterLab: expected {folded}, got {cell.metadata.get('jupyter')}")
    return problems


STORED_CHECKS = (
    execution_problems,
    stored_output_problems,
    error_and_warning_problems,
    picture_problems,
    path_problems,
    repr_problems,
    randomness_problems,
    exemption_problems,
    metadata_problems,
)


def stored_problems(nb, name):
    """All problems of a notebook's stored outputs."""
    return [problem for check in STORED_CHECKS for problem in check(nb, name)]
