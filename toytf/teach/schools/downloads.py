"""Finds the students of a class list in what Canvas, Moodle and Gradescope hand out as "all submissions".

What the names say:

- Canvas, a file for each: ``abtanna_1001_5551_week3.ipynb``, with ``_LATE`` behind the name if it came late.
  1001 is the student's ID in the gradebook, 5551 the file's. Handed in again, it is ``week3-1.ipynb``, with a
  larger number.
- Moodle, a folder for each: ``Anna Abt_1001_assignsubmission_file``, older ones with ``_`` at the end. 1001 is in
  the grading worksheet, as "Participant 1001". Without folders the file's own name follows.
- Gradescope: ``submission_77``, and beside these folders ``submission_metadata.yml``, which says whose each is.

A number decides where the class list has it, else the name. Nobody is guessed: where two students fit, or the
number says one and the name says another, it is an error that names both.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toytf._command import Trouble
from toytf.teach.grade.submission import Found, Unreadable, read_bytes
from toytf.teach.names import composed, same_writing
from toytf.teach.plain_text import plain
from toytf.teach.schools.forms import Person, cleaned, squeezed

CANVAS = re.compile(r"(?P<name>.*?)(?P<late>_LATE)?_(?P<number>\d+)_(?P<file>\d+)_(?P<rest>.+)", re.DOTALL)
MOODLE = re.compile(r"(?P<name>[^_]+)_(?P<number>\d+)_(?P<folder>assignsubmission_[a-z]+)(?P<rest>_.*)?", re.DOTALL)
METADATA = "submission_metadata.yml"
MOST_METADATA = 4 << 20


@dataclass
class Matched:
    """Submissions by the ids of a class list.

    Parameters
    ----------
    found : list of Found
    notes : list of str
        For the teacher: what was chosen, and what came late.
    handed_in : dict
        From students to the folders of Moodle in which they handed in: feedback has to go back by these names.
    """

    found: list[Found] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    handed_in: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Piece:
    """One thing that was handed in, and what its name says."""

    found: Found
    system: str = ""
    own_name: str = ""  # the file's own, without what Canvas adds when it is handed in again
    age: int = 0
    late: bool = False
    folder: str = ""


class Class:
    """Knows a class by what stands in names of files and folders.

    Examples
    --------
    >>> two = Class([Person("Anna Abt", ("Anna Abt",), ("a@school.example",), "1001", "moodle"), Person("Bo", ("Bo",))])
    >>> two.students("Anna Abt_1001_assignsubmission_file_"), two.students("bo_7_8_x"), two.students("a@school.example")
    (['Anna Abt'], ['Bo'], ['Anna Abt'])
    """

    def __init__(self, people: Sequence[Person]):
        self.people = people
        self.ids = _index((same_writing(one.student), one) for one in people)
        self.keys = _index((key.casefold(), one) for one in people for key in one.keys)
        self.numbers = _index((one.system + one.number, one) for one in people if one.number)
        self.numbered = {one.system for one in people if one.number}
        self.canvas = _index((way, one) for one in people for name in one.names for way in squeezed(name))
        self.moodle = _index((cleaned(name), one) for one in people for name in one.names)

    def students(self, name: str) -> list[str]:
        """The students whom a file or a folder of this name means: one, none, or several that fit."""
        name = composed(name)
        if same_writing(name) in self.ids:
            return _ids(self.ids[same_writing(name)])
        system, number, by_name = self._says(name)
        if not system:
            return _ids(self.keys.get(same_writing(name).casefold(), []))
        by_number = self.numbers.get(system + number, [])
        agree = [one for one in by_number if one in by_name]
        if agree or not by_number or not by_name:
            return _ids(agree or by_number or ([] if system in self.numbered else by_name))
        return _ids(by_number + by_name)

    def _says(self, name: str) -> tuple[str, str, list[Person]]:
        """Which system wrote a name, the number in it, and who is called so."""
        if moodle := MOODLE.fullmatch(name):
            return "moodle", moodle["number"], self.moodle.get(cleaned(moodle["name"]), [])
        if canvas := CANVAS.fullmatch(name):
            return "canvas", canvas["number"], self.canvas.get(canvas["name"].lower(), [])
        return "", "", []

    def other_number(self, name: str) -> bool:
        """Whether somebody of the list is called so, but has another number."""
        system, number, by_name = self._says(composed(name))
        return system in self.numbered and bool(by_name) and system + number not in self.numbers

    def knows(self, name: str) -> bool:
        """Whether it is an id of the list, written in whatever way."""
        return same_writing(name) in self.ids

    def submitter(self, about: dict[str, str]) -> list[str]:
        """The student whom Gradescope's metadata means: by number and address, or by name where it has neither."""
        keys = [key for key in (about.get(name, "").strip().casefold() for name in ("sid", "email")) if key]
        if keys and self.keys:
            return _ids(one for key in keys for one in self.keys.get(key, []))
        return _ids(self.moodle.get(cleaned(about.get("name", "")), []))


def _index(pairs: Iterable[tuple[str, Person]]) -> dict[str, list[Person]]:
    found: dict[str, list[Person]] = {}
    for key, one in pairs:
        if one not in found.setdefault(key, []):
            found[key].append(one)
    return found


def _ids(people: Iterable[Person]) -> list[str]:
    return list(dict.fromkeys(one.student for one in people))


# ---------------------------------------------------------------- a folder of submissions


def matched(folder: Path, found: Sequence[Found], people: Sequence[Person]) -> Matched:
    """Give what was handed in the ids of a class list; what fits nobody keeps its name.

    Raises
    ------
    Trouble
        Where two students fit: the message names both.
    """
    known, result, wrong = Class(people), Matched(), []
    pieces: dict[str, list[_Piece]] = {}
    submitters = _submitters(folder / METADATA) if (folder / METADATA).is_file() else {}
    for one in found:
        groups = [known.students(one.student)]
        if known.knows(one.student):
            groups = [[one.student]]  # a name stays as it is
        elif about := submitters.get(one.student):
            groups = [known.submitter(each) for each in about]
            for each in (each for each, group in zip(about, groups, strict=True) if not group):
                who = plain(each.get("name", ""), 100)
                result.notes.append(f"{one.student}: handed in by {who}, who is not in the class list.")
        elif known.other_number(one.student):
            result.notes.append(
                f"{plain(one.student, 100)}: somebody of this name is in the class list, with another number. "
                "Is it the list of this course, and of this assignment?"
            )
        groups = [group for group in groups if group] or [[one.student]]
        for candidates in groups:
            if len(candidates) > 1:
                both = " and ".join(map(repr, candidates))
                wrong.append(f"{plain(one.student, 100)}: expected one student of the class list, got {both}")
            pieces.setdefault(candidates[0], []).append(_piece(one))
    if wrong:
        raise Trouble("\n".join(wrong))
    for student, group in sorted(pieces.items()):
        _settle(student, group, result)
    return result


def _piece(found: Found) -> _Piece:
    name = composed(found.student)
    if moodle := MOODLE.fullmatch(name):
        whole = moodle["rest"] in (None, "_")
        folder = found.student if whole else found.student[: moodle.end("folder")] + "_"
        return _Piece(found, "moodle", name if whole else moodle["rest"], folder=folder)
    if canvas := CANVAS.fullmatch(name):
        own_name = re.sub(r"-\d+\Z", "", canvas["rest"])
        return _Piece(found, "canvas", own_name, int(canvas["file"]), canvas["late"] is not None)
    return _Piece(found, "", name)


def _settle(student: str, group: list[_Piece], result: Matched) -> None:
    """Which of the things that a student handed in counts."""
    notebooks = [piece for piece in group if piece.found.path is not None]
    chosen = (notebooks or group)[0]
    said = plain(student, 100)
    if len(notebooks) > 1:
        names = ", ".join(plain(piece.found.student, 100) for piece in notebooks)
        again = all(piece.system == "canvas" for piece in notebooks)
        if again and len({piece.own_name for piece in notebooks}) == 1:
            chosen = max(notebooks, key=lambda piece: piece.age)
            newest = plain(chosen.found.student, 100)
            result.notes.append(f"{said}: handed in {len(notebooks)} times; the newest counts, {newest}.")
        else:
            reason = f"Expected one notebook (.ipynb), got {len(notebooks)}: {names}."
            chosen = dataclasses.replace(chosen, found=Found(student, None, reason))
            result.notes.append(f"{said}: {len(notebooks)} notebooks were handed in, and none is graded: {names}.")
    if chosen.late:
        result.notes.append(f"{said}: handed in late, says the name of the file.")
    if chosen.folder:
        result.handed_in[student] = chosen.folder
    result.found.append(dataclasses.replace(chosen.found, student=student))


# ---------------------------------------------------------------- Gradescope's list


def _submitters(path: Path) -> dict[str, list[dict[str, str]]]:
    """Whose each folder of Gradescope's export is: name, sid and email of one person or more.

    Of the file only the lines that say this are read:

        submission_77:
          :submitters:
          - :name: Anna Abt
            :sid: '1001'
            :email: anna@school.example
    """
    try:
        text = read_bytes(path, MOST_METADATA).decode("utf-8-sig")
    except (Unreadable, UnicodeDecodeError) as error:
        raise Trouble(f"{path}: expected Gradescope's list of submissions (YAML, UTF-8), got {error}") from None
    found: dict[str, list[dict[str, str]]] = {}
    folder, listing, depth = "", False, 0
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip(" "))
        if begins := re.fullmatch(r"(submission_\d+):\s*", line):
            folder, listing, depth = begins[1], False, 0
        elif folder and not depth and indent:
            depth = indent
        if folder and indent == depth and re.fullmatch(r" +:submitters:\s*", line):  # deeper ones are older
            listing = True
        elif listing and (says := re.fullmatch(r" *(- )?:(\w+):(?: (.*))?", line)):
            if says[1]:
                found.setdefault(folder, []).append({})
            if not says[1] and indent <= depth:
                listing = False
            elif folder in found:
                found[folder][-1][says[2]] = _scalar(says[3] or "")
    if not found:
        raise Trouble(f"{path}: expected submission_NUMBER with its :submitters:, got none")
    return found


def _scalar(text: str) -> str:
    """A value of YAML on one line: bare, or in quotes."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        return re.sub(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", _escaped, text[1:-1])
    return "" if text in ("~", "null") else text


def _escaped(found: re.Match) -> str:
    sign = found[1]
    return chr(int(sign[1:], 16)) if len(sign) > 1 else sign
