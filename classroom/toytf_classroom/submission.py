"""Reads what students hand in: files that nobody has looked at yet, and that may be anything.

`find` lists who handed in what, `read` opens one notebook. Nothing here runs a student's code, and
whatever a file holds leads to a `Submission` or to a sentence that says why there is none.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path

from toytf_classroom.names import composed, same_writing
from toytf_classroom.plain_text import plain

MOST_BYTES = 16 << 20
MOST_DEPTH = 100
MOST_PARTS = 1_000_000  # commas and brackets: what a JSON text costs in memory
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
    """What a notebook holds, as far as it concerns the grader.

    Parameters
    ----------
    sha256 : str
        Of the file's bytes.
    cells : tuple of str
        The source of its code cells, in order.
    texts : dict
        From grade ids, and from the labels of exercises, to what the Markdown cells with them say.
    notes : tuple of str
        What was odd about it, in words for the student.
    sheet : str
        The number of the sheet that it says it is, where numbers are one's own. Anybody can write another.
    """

    sha256: str
    cells: tuple[str, ...]
    texts: dict[str, str]
    notes: tuple[str, ...] = ()
    sheet: str = ""


@dataclass
class Folder:
    """What lies in a folder of submissions."""

    found: list[Found] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # for the teacher: what is there and is no submission


# ---------------------------------------------------------------- the folder


def find(folder: Path) -> Folder:
    """List submissions: ``<student>.ipynb``, or one notebook in a folder ``<student>/``.

    Links are never followed. Files whose name begins with a dot, and assignment.json, are passed over.
    Names are kept as they are, blanks too; only their letters are spelled in one way, `composed`, unless
    there are two of them that differ in nothing else.
    """
    result, places, spelled, alike = Folder(), {}, {}, {}
    for entry in sorted(os.scandir(folder), key=lambda e: e.name):
        name = entry.name.removesuffix(".ipynb")
        try:
            one = _in(entry)
            name = one.student if isinstance(one, Found) else name
            same = composed(name), same_writing(name)
        except Exception as error:  # whatever is odd about one entry, the others are found
            one, same = Found(name, None, error=f"{type(error).__name__}: {error}"), (name, name)
        if isinstance(one, Found):
            places.setdefault(name, []).append(one)
            spelled.setdefault(same[0], set()).add(name)
            alike.setdefault(same[1], set()).add(name)
        elif one:
            result.notes.append(f"{plain(entry.name, 100)}: passed over, {one}.")
    ours = {names.pop(): spelling for spelling, names in spelled.items() if len(names) == 1}
    for name, group in sorted(places.items()):
        one = dataclasses.replace(group[0], student=ours.get(name, name))
        if len(group) > 1:
            one = Found(one.student, None, "There are several submissions of this name, a file and a folder perhaps.")
        result.found.append(one)
    for names in alike.values():
        if len(names) > 1:
            said = ", ".join(map(ascii, sorted(names)))
            result.notes.append(
                f"{plain(min(names), 100)}: {len(names)} names that read the same were handed in: {said}."
            )
    return result


def _in(entry: os.DirEntry) -> Found | str:
    """Who handed in this entry of the folder; or why it is passed over, "" if nobody needs to know."""
    name = entry.name
    if name.startswith(".") or name == "assignment.json":
        odd = name.endswith(".ipynb") and not name.startswith("._")  # those are macOS's own
        return "its name begins with a dot" if odd else ""
    if entry.is_dir(follow_symlinks=False):
        return _in_folder(entry)
    if not name.endswith(".ipynb"):
        if entry.is_symlink():
            return Found(name, None, "The submission is a link to another folder; links are not followed.")
        return "it is no notebook (.ipynb) and no folder"
    student = name.removesuffix(".ipynb")
    if entry.is_symlink():
        return Found(student, None, "The submission is a link to another file; links are not followed.")
    if not entry.is_file(follow_symlinks=False):
        return Found(student, None, "The submission is no ordinary file.")
    return Found(student, Path(entry.path))


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


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """Read an ordinary file of at most so many bytes; links are not followed, pipes not waited for.

    Raises
    ------
    Unreadable
        With the reason, in words for the student.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if os.path.islink(path):
            raise Unreadable("The submission is a link to another file; links are not followed.") from None
        raise Unreadable(f"The file cannot be read ({error.strerror}).") from None
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode) or about.st_size > most:
        os.close(handle)
        if not stat.S_ISREG(about.st_mode):
            raise Unreadable("The submission is no ordinary file.")
        raise Unreadable(f"The file has {about.st_size >> 20} MB; at most {most >> 20} MB are read.")
    with open(handle, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise Unreadable(f"The file has more than {most >> 20} MB.")
    return data


# ---------------------------------------------------------------- one notebook


def read(data: bytes) -> Submission:
    """Read a notebook from a file's bytes.

    Raises
    ------
    Unreadable
        If it is none, with the reason in words for the student.
    """
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
    depth, parts = _size(data)
    if depth > MOST_DEPTH or parts > MOST_PARTS:
        raise Unreadable(f"The file is no notebook: it is nested {depth} deep and has {parts} parts.")
    try:
        return json.loads(text)
    except (ValueError, RecursionError, MemoryError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        empty = "it is empty" if not text.strip() else f"it is no valid JSON{where}; was the file cut off?"
        raise Unreadable(f"The file is no notebook: {empty}") from None


def _size(data: bytes) -> tuple[int, int]:
    """How deeply a JSON text is nested and how many parts it has, without building any of it."""
    # A text that is never closed goes on to the end: so every byte is looked at once, whatever stands there.
    bare = re.sub(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', b"", data, flags=re.DOTALL)
    brackets = bare.translate(None, bytes(set(range(256)) - set(b"[]{}")))
    parts = len(brackets) + bare.count(b",")
    if parts > MOST_PARTS:
        return 0, parts
    steps = (1 if one in b"[{" else -1 for one in brackets)
    return max(itertools.accumulate(steps), default=0), parts


def _sheet(notebook: dict) -> str:
    metadata = notebook.get("metadata")
    own = metadata.get("toytf") if isinstance(metadata, dict) else None
    number = own.get("sheet") if isinstance(own, dict) else None
    return number if isinstance(number, str) and re.fullmatch(r"\d{3}-\d{3}-\d{3}", number, re.ASCII) else ""


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
    metadata = cell.get("metadata")
    if not isinstance(metadata, dict):
        return set()
    names = []
    school, own = metadata.get("nbgrader"), metadata.get("toytf")
    if isinstance(school, dict) and school.get("locked") is not True:
        names.append(school.get("grade_id"))
    if isinstance(own, dict) and own.get("role") == "answer":
        names.append(own.get("exercise"))
    return {name[:100] for name in names if isinstance(name, str)}
