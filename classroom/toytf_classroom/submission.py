"""Reads what students hand in: files that nobody has looked at yet, and that may be anything.

`find` lists who handed in what, `read` opens one notebook. Nothing here runs a student's code, and
whatever a file holds leads to a `Submission` or to a sentence that says why there is none.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import stat
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
    error: str = ""  # of the grader's own, so that nothing can be said about the student


@dataclass(frozen=True)
class Submission:
    """What a notebook holds, as far as it concerns the grader."""

    sha256: str  # of the file's bytes
    cells: tuple[str, ...]  # the source of its code cells, in order
    texts: dict[str, str]  # from grade ids, and labels of exercises, to what the Markdown cells with them say
    notes: tuple[str, ...] = ()  # what was odd about it, in words for the student
    sheet: str = ""  # the number of the sheet that it says it is, with own numbers. Anybody can write another


# ---------------------------------------------------------------- the folder


def find(folder: Path) -> tuple[list[Found], list[str]]:
    """List submissions, ``<student>.ipynb`` or one notebook in a folder ``<student>/``, and notes for the teacher.

    Links are never followed. Files whose name begins with a dot, and assignment.json, are passed over.
    """
    found, notes, places = [], [], {}
    for entry in sorted(os.scandir(folder), key=lambda e: e.name):
        name = entry.name.removesuffix(".ipynb")
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
        one = group[0] if len(group) == 1 else Found(name, None, several)
        found.append(dataclasses.replace(one, student=name))
    return found, notes


def _in(entry: os.DirEntry) -> Found | str:
    """Who handed in this entry of the folder; or why it is passed over, "" if nobody needs to know."""
    name = entry.name
    if name.startswith(".") or name == "assignment.json":
        odd = name.endswith(".ipynb") and not name.startswith("._")  # those are macOS's own
        return "its name begins with a dot" if odd else ""
    if entry.is_dir(follow_symlinks=False):
        return _in_folder(entry)
    if name.endswith(".ipynb") or entry.is_symlink():
        return Found(name.removesuffix(".ipynb"), Path(entry.path))
    return "it is no notebook (.ipynb) and no folder"


def _in_folder(entry: os.DirEntry) -> Found:
    try:
        inside = [e for e in os.scandir(entry.path) if e.name.endswith(".ipynb") and e.name[0] != "."]
        inside = [e.name for e in inside if not e.is_dir(follow_symlinks=False)]
    except OSError as error:
        return Found(entry.name, None, f"The folder cannot be read ({error.strerror}).")
    if len(inside) != 1:
        many = f"{len(inside)} notebooks" if inside else "no notebook"
        return Found(entry.name, None, f"Expected one notebook (.ipynb) in the folder, got {many}.")
    return Found(entry.name, Path(entry.path) / inside[0])


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
    cells, texts, odd = [], {}, 0
    for cell in notebook["cells"]:
        source = _source(cell)
        if source is None:
            odd += 1
        elif cell.get("cell_type") == "code":
            cells.append(source)
        elif cell.get("cell_type") in ("markdown", "raw"):
            for name in _names(cell):
                texts[name] = f"{texts[name]}\n\n{source}" if name in texts else source
    total = len(notebook["cells"])
    notes = [f"{odd} of {total} cells are none (no source that is text) and were passed over."] if odd else []
    return Submission(hashlib.sha256(data).hexdigest(), tuple(cells), texts, tuple(notes), _sheet(notebook))


def _json(data: bytes):
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("The file is no notebook: it is no UTF-8 text.") from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError, MemoryError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        empty = "it is empty" if not text.strip() else f"it is no valid JSON{where}; was the file cut off?"
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


def _names(cell: dict) -> set[str]:
    """By what names a text cell may be asked for. None of it is trusted: a wrong one finds a wrong text, no more."""
    school, own = (_dict(_dict(cell, "metadata"), name) for name in ("nbgrader", "toytf"))
    names = [
        school.get("grade_id") if school.get("locked") is not True else None,
        own.get("exercise") if own.get("role") == "answer" else None,
    ]
    return {name[:100] for name in names if isinstance(name, str)}
