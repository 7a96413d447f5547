"""Reads what students hand in: files that nobody has looked at yet, and that may be anything.

`find` lists who handed in what, `read` opens one notebook. Nothing here runs a student's code, and
whatever a file holds leads to a `Submission` or to a sentence that says why there is none.
"""

import dataclasses
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from toytf_classroom.plain_text import composed, plain

MOST_BYTES = 16 << 20
MOST_CELLS = 2000
MOST_SOURCE = 1 << 20  # characters of one cell


class Unreadable(ValueError):
    """A submission that cannot be read, and why."""


@dataclass(frozen=True)
class Found:
    """One student's place in the folder: a notebook, or the reason why there is none."""

    student: str
    path: Path | None
    reason: str = ""
    doubt: str = ""  # why a person has to look before anything is said, not even 0
    error: str = ""  # of the grader's own, so that nothing can be said about the student
    late: bool = False  # says the system that collected it
    stray: str = ""  # the name of a file that is no notebook; nobody's, unless the class list says whose


@dataclass(frozen=True)
class Cell:
    """A cell in which a student may have written words: any text, and code by its number."""

    source: str
    names: frozenset[str]  # grade ids and labels of exercises
    code: int = 0  # its number among the code cells


@dataclass(frozen=True)
class Submission:
    """What a notebook holds, as far as it concerns the grader."""

    sha256: str  # of the file's bytes
    code: tuple[str, ...]  # the source of its code cells, in order
    cells: tuple[Cell, ...]  # all of them, in order
    notes: tuple[str, ...] = ()  # what was odd about it, in words for the student
    sheet: str = ""  # the number of the sheet that it says it is, with own numbers. Anybody can write another

    @property
    def content(self) -> str:
        """A hash of what the cells say: the same notebook saved anew has the same one."""
        return hashlib.sha256(repr([" ".join(cell.source.split()) for cell in self.cells]).encode()).hexdigest()


# ---------------------------------------------------------------- the folder

NOTEBOOK = re.compile(r"(?P<student>.+)\.ipynb(\.txt|\.json)?", re.IGNORECASE | re.DOTALL)
DEEPEST = 4  # folders inside a student's folder
NOBODY_S = {"assignment.json", "timestamp.txt", "__MACOSX", "Thumbs.db", "desktop.ini"}  # nbgrader's, a system's


def find(folder: Path, knows: Callable[[str], bool] = lambda name: False) -> tuple[list[Found], list[str]]:
    """List submissions, ``<student>.ipynb`` or a notebook somewhere in a folder ``<student>/``, and notes.

    A folder that only wraps the others, as unzip makes it, is gone into; `knows` says whether a name is that of
    somebody in the class. Links are never followed; files whose name begins with a dot are passed over.
    """
    found, notes, places = [], [], {}
    for entry in _entries(folder, knows, notes):
        name = _student(entry.name)
        try:
            one = _in(entry)
            name = composed(one.student if isinstance(one, Found) else name) or name
        except Exception as error:  # whatever is odd about one entry, the others are found
            one = Found(name, None, error=f"{type(error).__name__}: {error}")
        if isinstance(one, Found):
            places.setdefault(name, []).append(one)
        elif one:
            notes.append(f"{plain(entry.name, 100)}: passed over, {one}.")
    several = "There are several submissions of this name, a file and a folder perhaps."
    for name, group in sorted(places.items()):
        group = [one for one in group if not one.stray] or group
        one = group[0] if len(group) == 1 else Found(name, None, doubt=several)
        found.append(dataclasses.replace(one, student=name))
    return found, notes


def _student(name: str) -> str:
    matched = NOTEBOOK.fullmatch(name)
    return matched["student"] if matched else name


def _listed(folder) -> list[os.DirEntry]:
    return sorted((e for e in os.scandir(folder) if e.name not in NOBODY_S), key=lambda e: e.name)


def _entries(folder, knows: Callable[[str], bool], notes: list[str], deep: int = 0) -> list[os.DirEntry]:
    """What lies in a folder, and what lies in its folders that are nobody's and only wrap others."""
    entries, found = _listed(folder), []
    shown = [e for e in entries if not e.name.startswith(".")]
    for entry in entries:
        if deep < DEEPEST and entry in shown and _wraps(entry, len(shown) == 1, knows):
            notes.append(f"{plain(entry.name, 100)}: a folder around others; the submissions in it were taken.")
            found += _entries(entry.path, knows, notes, deep + 1)
        else:
            found.append(entry)
    return found


def _wraps(entry: os.DirEntry, alone: bool, knows: Callable[[str], bool]) -> bool:
    """Whether a folder holds others' submissions: somebody's of the class, or it is alone and several lie in it."""
    if not entry.is_dir(follow_symlinks=False) or knows(entry.name):
        return False
    try:
        inside = [e for e in _listed(entry.path) if e.name[0] != "."]
    except OSError:
        return False
    if len(inside) == 1 and _wraps(inside[0], alone, knows):
        return True
    several = len([e for e in inside if NOTEBOOK.fullmatch(e.name) or e.is_dir(follow_symlinks=False)]) > 1
    return any(knows(_student(e.name)) for e in inside) or (alone and several)


def _in(entry: os.DirEntry) -> Found | str:
    """Who handed in this entry of the folder; or why it is passed over, "" if nobody needs to know."""
    name = entry.name
    if name.startswith("."):
        odd = name.endswith(".ipynb") and not name.startswith("._")  # those are macOS's own
        return "its name begins with a dot" if odd else ""
    if entry.is_dir(follow_symlinks=False):
        return _in_folder(entry)
    if NOTEBOOK.fullmatch(name) or entry.is_symlink():
        return Found(_student(name), Path(entry.path))
    return Found(name.rpartition(".")[0] or name, None, doubt=_no_notebook([name]), stray=name)


def _no_notebook(names: list[str]) -> str:
    packed = " Unpack it." if any(name.lower().endswith((".zip", ".7z", ".rar", ".gz")) for name in names) else ""
    return f"Expected a notebook (.ipynb), got {plain(', '.join(names), 200)}.{packed}"


def _in_folder(entry: os.DirEntry) -> Found:
    try:
        inside = _below(entry.path)
    except OSError as error:
        return Found(entry.name, None, doubt=f"The folder cannot be read ({error.strerror}).")
    notebooks = [path for path in inside if NOTEBOOK.fullmatch(path.name)]
    if len(notebooks) == 1:
        return Found(entry.name, notebooks[0])
    if notebooks:
        names = ", ".join(str(path.relative_to(entry.path)) for path in notebooks)
        return Found(entry.name, None, doubt=f"Expected one notebook, got {len(notebooks)}: {plain(names, 200)}.")
    if inside:
        return Found(entry.name, None, doubt=_no_notebook([path.name for path in inside]))
    return Found(entry.name, None, "The folder is empty: there is no notebook (.ipynb) in it.")


def _below(folder, deep: int = 0) -> list[Path]:
    """The files in a folder and in those inside it."""
    found = []
    for entry in (e for e in _listed(folder) if e.name[0] != "."):
        if not entry.is_dir(follow_symlinks=False):
            found.append(Path(entry.path))
        elif deep < DEEPEST:
            found += _below(entry.path, deep + 1)
    return found


def read_bytes(path: Path) -> bytes:
    """Read an ordinary file of at most `MOST_BYTES`; links are not followed, pipes not waited for.

    `Unreadable` has the reason, in words for the student.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if os.path.islink(path):
            raise Unreadable("The submission is a link to another file; links are not followed.") from None
        raise Unreadable(f"The file cannot be read ({error.strerror}).") from None
    with open(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise Unreadable("The submission is no ordinary file.")
        if about.st_size > MOST_BYTES:
            raise Unreadable(f"The file has {about.st_size >> 20} MB; at most {MOST_BYTES >> 20} MB are read.")
        return file.read(MOST_BYTES)


# ---------------------------------------------------------------- one notebook


def read(data: bytes) -> Submission:
    """Read a notebook from a file's bytes; `Unreadable` if it is none, with the reason in words for the student."""
    notebook = _json(data)
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise Unreadable("The file is no notebook of format 4: expected a list of cells.")
    if len(notebook["cells"]) > MOST_CELLS:
        raise Unreadable(f"The notebook has {len(notebook['cells'])} cells; at most {MOST_CELLS} are read.")
    code, cells, odd = [], [], 0
    for cell in notebook["cells"]:
        source = _source(cell)
        if source is None:
            odd += 1
            continue
        if cell.get("cell_type") == "code":
            code.append(source)
        elif cell.get("cell_type") not in ("markdown", "raw"):
            continue
        cells.append(Cell(source, _names(cell), len(code) if cell["cell_type"] == "code" else 0))
    total = len(notebook["cells"])
    notes = [f"{odd} of {total} cells are none (no source that is text) and were passed over."] if odd else []
    return Submission(hashlib.sha256(data).hexdigest(), tuple(code), tuple(cells), tuple(notes), _sheet(notebook))


def _json(data: bytes):
    try:
        text = data.decode(json.detect_encoding(data))  # some editors save UTF-16
    except UnicodeDecodeError:
        raise Unreadable("The file is no notebook: it is no UTF-8 text.") from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError, MemoryError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        empty = "it is empty" if not text.strip() else f"it is no valid JSON{where}; is it cut off, a link, a merge?"
        raise Unreadable(f"The file is no notebook: {empty}") from None


def _sheet(notebook: dict) -> str:
    number = _dict(_dict(notebook, "metadata"), "toytf").get("sheet")
    return number if isinstance(number, str) and re.fullmatch(r"\d{3}-\d{3}-\d{3}", number, re.ASCII) else ""


def _dict(whole: dict, key: str) -> dict:
    """A part of strangers' JSON that should be an object; an empty one if it is none."""
    part = whole.get(key)
    return part if isinstance(part, dict) else {}


def _source(cell) -> str | None:
    if not isinstance(cell, dict):
        return None
    source = cell.get("source")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str) or len(source) > MOST_SOURCE:
        return None
    return source.encode("utf-8", "replace").decode()  # halves of characters can be neither run nor written


def _names(cell: dict) -> frozenset[str]:
    """By what names a cell may be asked for. None of it is trusted: a wrong one finds a wrong text, no more.

    Editors drop metadata, and some keep the ids, which are the same names.
    """
    school, own = (_dict(_dict(cell, "metadata"), name) for name in ("nbgrader", "toytf"))
    names, parts = [school.get("grade_id"), cell.get("id")], (own.get("exercise"), own.get("role"))
    if all(isinstance(part, str) for part in parts):
        names.append("-".join(parts))
    return frozenset(name[:100] for name in names if isinstance(name, str))
