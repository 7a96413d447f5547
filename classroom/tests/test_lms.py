"""Class lists, downloads and grade tables of Canvas and Moodle, with made-up people."""

import csv
import io
import re

import pytest

import gradecheck
from gradecheck import HONEST
from toytf_classroom import ClassroomError
from toytf_classroom.__main__ import main
from toytf_classroom.export import fill
from toytf_classroom.feedback import feedback_zip
from toytf_classroom.lms import Person, matched, read_class, students_of
from toytf_classroom.submission import find

# As lib/gradebook_exporter.rb writes it: a row on posting, the row of points, people, the course's test student.
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Notes,Week 3 (4711),Week 4 (4712),Current Score,Final Score
,,,,,,Manual Posting,,,
    Points Possible,,,,,,7.00,10.00,(read only),(read only)
"Abt, Anna",1001,s-1,anna.abt,Group 1,,,4.50,45.0,45.0
"Abt, Anna",1002,s-2,anna.abt2,Group 2,=1+1,,,,
"Müller, Zoë",1003,s-3,zoe,Group 1,,EX,,,
"O'Brien, Sinéad",1004,s-4,sinead,Group 1,,,N/A,,
"Student, Test",1999,,9c3f,Group 1,,,,,
"""
# As mod/assign/gradingtable.php downloads it.
WORKSHEET = """\
Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",\
"Last modified (submission)","Last modified (grade)","Feedback comments"
"Participant 2001","Anna Abt",anna@school.example,Submitted,,7.00,Yes,"Mon, 9 November 2026, 9:14 AM",-,
"Participant 2002","Anna Abt",anna2@school.example,Submitted,-,7.00,Yes,"Mon, 9 November 2026, 9:15 AM",-,
"Participant 2003","Zoë Müller",zoe@school.example,"No submission",,7.00,Yes,-,-,
"Participant 2004","Sinéad O'Brien",sinead@school.example,"No submission",,7.00,Yes,-,-,
"""
# As the participants of a course, and the export of its grades, begin.
PARTICIPANTS = """\
"First name","Last name","ID number","Email address",Groups,"Assignment: Week 3 (Real)"
Anna,Abt,17,anna@school.example,"A, B",-
Zoë,Müller,18,zoe@school.example,A,-
Sinéad,O'Brien,19,sinead@school.example,A,-
"""
ANNAS = ["Abt, Anna (1001)", "Abt, Anna (1002)"]


def put(folder, content, name="class.csv"):
    (folder / name).write_text(content, "utf-8")
    return folder / name


def names(path, column=None):
    return [one.student for one in read_class(path, column)]


# ---------------------------------------------------------------- class lists


@pytest.mark.parametrize(
    ("content", "students"),
    [
        (CANVAS, [*ANNAS, "Müller, Zoë", "O'Brien, Sinéad"]),
        (WORKSHEET, ["Anna Abt (2001)", "Anna Abt (2002)", "Zoë Müller", "Sinéad O'Brien"]),
        (PARTICIPANTS, ["Anna Abt", "Zoë Müller", "Sinéad O'Brien"]),
        ("student,group\nanna,1\n bob,2\n\n", ["anna", "bob"]),
        ("\ufeffname;student\nAnna;anna\n", ["anna"]),
    ],
)
def test_a_class_list_is_read_in_each_form(tmp_path, content, students):
    assert names(put(tmp_path, content)) == students
    assert names(put(tmp_path, "E-Mail;Name\na@x.example;Anna\n"), "E-Mail") == ["a@x.example"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("name\nanna\n", "line 1: expected one column 'student', or Canvas's gradebook"),
        ("student,student\nanna,bob\n", "line 1: expected one column 'student', got student, student"),
        ("student\nanna\nbob\nanna\n", "line 4: expected each student once, got 'anna' again"),
        ("student\nanna\n \nbob\n", "line 3: student: expected at least one character"),
        ("student\n", "expected at least one student, got none"),
        ('student\n"anna\n', "expected CSV, got"),
        ("student\na/b\na_b\n", "got 'a_b' again (a sign that no file has"),
        ("student\nAnna\nanna\n", "line 3: expected each student once"),
        ("student\nMüller, Zoë\n", "line 2: expected at most 1 cell as in line 1, got 2: put a name that holds"),
    ],
)
def test_a_wrong_list_names_the_line(tmp_path, content, says):
    with pytest.raises(ClassroomError, match=re.escape(says)):
        names(put(tmp_path, content))


# ---------------------------------------------------------------- whose a submission is

CLASS = [
    Person("Anna Abt", "1001", ("Anna Abt",)),
    Person("Zoë Müller", "1002", ("Zoë Müller",)),
    Person("O'Brien, Sinéad", "1003", ("O'Brien, Sinéad", "Sinéad O'Brien")),
    Person("Bo (1)", "", ("Bo (1)",)),
]


@pytest.mark.parametrize(
    ("name", "whose"),
    [
        ("Anna Abt", ["Anna Abt"]),
        ("Zoe\u0308 Mu\u0308ller", ["Zoë Müller"]),
        ("Anna Abt_1001_assignsubmission_file_", ["Anna Abt"]),
        ("obriensinéad_LATE_1003_7_week3", ["O'Brien, Sinéad"]),
        ("Somebody New Name_1001_assignsubmission_file", ["Anna Abt"]),
        ("Zoë Müller_1001_assignsubmission_file", ["Anna Abt", "Zoë Müller"]),  # number and name do not agree
        ("Anna Abt_9999_assignsubmission_file", []),  # of another course's list
        ("cem", []),
        ("Anna Abt (1)", ["Anna Abt"]),  # a copy
        ("Anna Abt-Copy1", ["Anna Abt"]),
        ("Anna Abt(2)", ["Anna Abt"]),
        ("Bo (1)", ["Bo (1)"]),
        ("Bo", []),
    ],
)
def test_a_number_decides_else_the_name_and_nobody_is_guessed(name, whose):
    assert students_of(name, CLASS) == whose


def matches(tmp_path, *files):
    found, _ = find(gradecheck.folder(tmp_path / "week", dict.fromkeys(files, b"{}")))
    return matched(found, CLASS)


def test_canvas_s_newest_counts_and_where_it_is_not_clear_nothing_is_chosen(tmp_path):
    files = "zoëmüller_1002_5_week3.ipynb", "zoëmüller_LATE_1002_9_week3-1.ipynb", "cem.ipynb"
    found, notes, _ = matches(tmp_path / "a", *files)
    assert {one.student: one.path.name for one in found} == {"Zoë Müller": files[1], "cem": "cem.ipynb"}
    assert notes == [
        "Zoë Müller: handed in 2 times; the newest counts.", "Zoë Müller: handed in late, says the name of the file.",
    ]  # fmt: skip
    ((one,), *_) = matches(tmp_path / "b", "annaabt_1001_5_week3.ipynb", "annaabt_1001_9_other.ipynb")
    assert (one.student, one.path) == ("Anna Abt", None) and "got 2" in one.doubt
    with pytest.raises(ClassroomError, match="expected one student of the class list, got 'Anna Abt' and 'Zoë Müller'"):
        matches(tmp_path / "c", "Zoë Müller_1001_assignsubmission_file/x.ipynb")


# ---------------------------------------------------------------- grades into a system's table


def graded(tmp_path, *rows):
    lines = ["student,points,out of,8.8,remark"] + [
        f'"{name}",{points},7,{points},{said}' for name, points, said in rows
    ]
    return put(tmp_path, "\n".join(lines) + "\n", "grades.csv")


def cells(data):
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


@pytest.mark.parametrize(
    ("content", "column", "student", "at"),
    [
        (CANVAS, "Week 3 (4711)", "O'Brien, Sinéad", 6),
        (WORKSHEET, None, "Sinéad O'Brien", 4),
        (PARTICIPANTS, "Assignment: Week 3 (Real)", "Sinéad O'Brien", 5),
    ],
)
def test_only_the_cell_of_the_grade_changes(tmp_path, content, column, student, at):
    into = put(tmp_path, content)
    result = fill(graded(tmp_path, (student, 4.5, "")), into, column)
    assert (result.filled, result.left) == ([student], [])
    old, new = cells(into.read_bytes()), cells(result.data)
    differ = [(i, j) for i, row in enumerate(old) for j, cell in enumerate(row) if new[i][j].lstrip("'") != cell]
    assert [j for _, j in differ] == [at] and new[differ[0][0]][at] == "4.5"
    assert b",=" not in result.data  # no cell becomes a formula


def test_what_canvas_decided_stays_and_another_grade_only_with_force(tmp_path):
    into = put(tmp_path, CANVAS.replace(",10.00,", ",7.00,"))
    grades = graded(tmp_path, (ANNAS[0], 2, "to be read: 9.3"), ("Müller, Zoë", 6, ""), ("eve", 1, ""))
    with pytest.raises(ClassroomError, match=r"line 4: expected no grade for 'Abt, Anna \(1001\)' yet, got 4.50"):
        fill(grades, into, "Week 4 (4712)")
    result = fill(grades, into, "Week 4 (4712)", force=True)
    assert cells(result.data)[3][7] == "2" and result.left == ["eve"]
    result = fill(grades, into, "Week 3 (4711)")
    assert [row[6] for row in cells(result.data)[3:]] == ["2", "", "EX", "", ""]
    assert "has answers that nobody has read" in result.notes[0] and result.notes[1] == "Müller, Zoë: EX stays."


def test_another_maximum_a_missing_column_and_two_rows_for_one_student_are_refused(tmp_path):
    into = put(tmp_path, CANVAS)
    for rows, column, says in [
        ([(ANNAS[0], 1, "")], "Week 4 (4712)", "expected points out of 10, as the table says, got '1' out of 7"),
        ([(ANNAS[0], 1, "")], "Week 9", "expected one column 'Week 9'"),
        ([(ANNAS[0], 1, "")], None, "--column: expected the column"),
        ([(ANNAS[0], 1, ""), ("abtanna_1001_5_week3", 2, "")], "Week 3 (4711)", "expected one student of the table"),
        ([(ANNAS[0], "x", "")], "Week 3 (4711)", "expected points out of 7, as the table says, got 'x'"),
    ]:
        with pytest.raises(ClassroomError, match=re.escape(says)):
            fill(graded(tmp_path, *rows), into, column)


def test_from_moodle_s_folders_to_the_table_for_upload(tmp_path, box):
    folders = [f"{name}_{n}_assignsubmission_file" for name, n in (("Anna Abt", 2001), ("Zoë Müller", 2003))]
    place = gradecheck.folder(tmp_path / "week", {f"{name}/my.ipynb": HONEST for name in folders})
    into = put(tmp_path, WORKSHEET)
    gradecheck.grade(place, tmp_path / "grades.csv", box, class_list=into)
    archive, without = feedback_zip(tmp_path / "grades.csv")
    assert all(name.encode() in archive for name in folders) and without == []
    out = tmp_path / "upload.csv"
    assert main(["export", str(tmp_path / "grades.csv"), "--into", str(into), "--out", str(out)]) == 0
    assert [row[4] for row in cells(out.read_bytes())[1:]] == ["4", "0", "4", "0"]
    assert main(["export", str(tmp_path / "grades.csv"), "--into", str(into), "--out", str(out)]) == 2
