"""How the sheets are written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from toytf._command import progress, write_whole
from toytf.teach.names import file_stem
from toytf.teach.worksheet import pages
from toytf.teach.worksheet.sheets import Sheet


def one_by_one(sheet: Sheet, answers: bool) -> dict[str, Callable[[], str]]:
    """A student's files: their names, and what writes their text."""
    stem = file_stem(sheet.student)
    if answers:
        return {
            f"{stem}.answers.html": sheet.answers_html,
            f"{stem}.answers.json": lambda: pages.as_json(answer_file([sheet])),
        }
    return {f"{stem}.html": sheet.html, f"{stem}.ipynb": lambda: pages.as_json(sheet.notebook())}


def all_in_one(sheets: Sequence[Sheet], answers: bool) -> dict[str, Callable[[], str]]:
    """A class's file to print."""
    if answers:
        return {
            "class.answers.html": lambda: pages.page(sheets, answers=True),
            "class.answers.json": lambda: pages.as_json(answer_file(sheets)),
        }
    return {"class.html": lambda: pages.page(sheets, answers=False)}


def answer_file(sheets: Sequence[Sheet]) -> dict:
    return {"format": "toytf worksheet answers", "version": 1, "sheets": [sheet.answers() for sheet in sheets]}


def write_files(folder, students: Sequence[str], make: Callable[[str], Sheet], *, answers, one_file, force) -> int:
    """Write the sheets of some students; return how many files are new.

    A file that is there with the same content stays as it is, so that a run that was stopped can be
    started again. Each file is written whole or not at all.

    Raises
    ------
    FileExistsError
        If a file is there with another content, and `force` does not allow to replace it. Then
        nothing has been written.
    ValueError
        If two students get the same numbers: not to be expected, but nothing forbids it.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"--out: expected a folder, got the file {folder}")
    if len({file_stem(student) for student in students}) != len(students):
        raise ValueError("two students would get files of the same name: expected ids that differ")
    make = all_different(make)
    if one_file:
        sheets = [make(student) for student in _bar(students, "sheet")]
        jobs: Iterable[dict] = [all_in_one(sheets, answers)]
    else:
        # First look at what is there: nothing may be written if something would have to be refused.
        there = [s for s in students if not force and _any_exists(folder, s, answers)]
        for student in _bar(there, "sheet compared"):
            _refuse_others(folder, one_by_one(make(student), answers))
        jobs = (one_by_one(sheet, answers) for sheet in _each(students, make))
    new = 0
    for job in jobs:
        if not force:
            _refuse_others(folder, job)
        for name, text in job.items():
            content = text().encode()
            folder.mkdir(parents=True, exist_ok=True)
            new += write_whole(folder / name, content)
    return new


def _each(students: Sequence[str], make: Callable[[str], Sheet]) -> Iterator[Sheet]:
    for student in _bar(students, "sheet"):
        yield make(student)


def all_different(make: Callable[[str], Sheet]) -> Callable[[str], Sheet]:
    """Make sheets, and see to it that no two students get the same numbers."""
    seen: dict[tuple[str, ...], str] = {}

    def made(student: str) -> Sheet:
        sheet = make(student)
        other = seen.setdefault(tuple(exercise.fingerprint for exercise in sheet.exercises), student)
        if other != student:
            raise ValueError(f"{other!r} and {student!r} would get the same numbers: give another title or more topics")
        return sheet

    return made


def _any_exists(folder: Path, student: str, answers: bool) -> bool:
    endings = (".answers.html", ".answers.json") if answers else (".html", ".ipynb")
    return any((folder / (file_stem(student) + ending)).exists() for ending in endings)


def _refuse_others(folder: Path, job: dict[str, Callable[[], str]]) -> None:
    for name, text in job.items():
        path = folder / name
        if path.exists() and path.read_bytes() != text().encode():
            raise FileExistsError(
                f"{path}: is there already, with another content (another key, title, choice of topics or version). "
                "Give another folder, or --force to replace it"
            )


def _bar(items: Sequence, unit: str):
    return progress(items, unit=unit) if len(items) > 1 else items
