"""Class lists, downloads and grades in the documented forms of Canvas, Moodle and Gradescope; people made up."""

import csv
import io
import zipfile

import pytest
from toytf_classroom.tables import read_class, read_people

import gradecheck
from gradecheck import BLANK, HONEST, IMPORTS, STUB, data
from toytf_classroom.__main__ import main
from toytf_classroom import ClassroomError, downloads, forms, own, submission
from toytf_classroom.export import fill
from toytf_classroom.feedback import feedback_zip

MARK = b"\xef\xbb\xbf"

# As lib/gradebook_exporter.rb writes it: a row on posting, the row of points, people, the course's test student.
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Notes,Week 3 (4711),Week 4 (4712),Current Score,Final Score
,,,,,,Manual Posting,,,
    Points Possible,,,,,,7.00,10.00,(read only),(read only)
"Abt, Anna",1001,s-1,anna.abt,Group 1,,,4.50,45.0,45.0
"Abt, Anna",1002,s-2,anna.abt2,Group 2,late often,,,,
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
"First name",Surname,"ID number","Email address",Groups,"Assignment: Week 3 (Real)"
Anna,Abt,17,anna@school.example,"A, B",-
Zoë,Müller,18,zoe@school.example,A,-
Sinéad,O'Brien,19,sinead@school.example,A,-
"""
ROSTER = """\
First Name,Last Name,SID,Email,Role,Section
Anna,Abt,301,anna@school.example,Student,1
Anna,Abt,302,anna2@school.example,Student,2
Zoë,Müller,303,zoe@school.example,Student,1
Tea,Cher,,tea@school.example,Instructor,
"""
DOWNLOADED = """\
First Name,Last Name,SID,Email,Sections,Total Score,Max Points,Status,Submission ID,Submission Time,\
Lateness (H:M:S),View Count,Submission Count,1: softmax (2.0 pts)
Anna,Abt,301,anna@school.example,1,,7.0,Ungraded,77,2026-11-09 09:14:00 +0100,00:00:00,0,1,
Zoë,Müller,303,zoe@school.example,1,,7.0,Missing,,,,0,0,
"""
METADATA = """\
---
submission_77:
  :submitters:
  - :name: Anna Abt
    :sid: '301'
    :email: anna@school.example
  :created_at: 2026-11-09 09:14:00.000000000 Z
  :score:
submission_78:
  :submitters:
  - :name: Zoë Müller
    :sid:
    :email: zoe@school.example
  - :name: "Anna Abt"
    :sid: "302"
    :email: "anna2@school.example"
  :history:
  - :id: 5
    :submitters:
    - :name: Somebody Else
"""
ANNAS = ["Abt, Anna (1001)", "Abt, Anna (1002)"]


def put(folder, content, name="class.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# ---------------------------------------------------------------- class lists


@pytest.mark.parametrize(
    ("content", "students"),
    [
        (CANVAS, [*ANNAS, "Müller, Zoë", "O'Brien, Sinéad"]),
        (
            "LastName,FirstName,ID,SIS Login ID,Section,Week 3 (4711)\nAbt,Anna,1001,anna.abt,1,\nMononym,,1002,m,1,\n",
            ["Abt, Anna", "Mononym"],
        ),
        (
            WORKSHEET,
            ["Anna Abt (anna@school.example)", "Anna Abt (anna2@school.example)", "Zoë Müller", "Sinéad O'Brien"],
        ),
        ("Identifier,Status,Grade\nParticipant 7,,\nParticipant 8,,\n", ["Participant 7", "Participant 8"]),
        (PARTICIPANTS, ["Anna Abt", "Zoë Müller", "Sinéad O'Brien"]),
        (PARTICIPANTS.replace("Surname", '"Last name"'), ["Anna Abt", "Zoë Müller", "Sinéad O'Brien"]),
        (ROSTER, ["Anna Abt (anna@school.example)", "Anna Abt (anna2@school.example)", "Zoë Müller"]),
        ("Name,Email,SID\nAnna Abt,a@school.example,\nBo,b@school.example,2\n", ["Anna Abt", "Bo"]),
        (DOWNLOADED, ["Anna Abt", "Zoë Müller"]),
    ],
)
def test_a_class_list_is_read_in_each_form(tmp_path, content, students):
    assert read_class(put(tmp_path, content)) == students
    assert read_class(put(tmp_path, MARK + content.replace("\n", "\r\n").encode())) == students


def test_semicolons_are_known_also_where_a_name_of_a_column_has_a_comma(tmp_path):
    rows = csv.reader(io.StringIO(CANVAS.replace("Week 3 (4711)", '"Week 3, part 1 (4711)"')))
    made = io.StringIO()
    csv.writer(made, delimiter=";", quoting=csv.QUOTE_ALL).writerows(rows)
    assert read_class(put(tmp_path, made.getvalue())) == [*ANNAS, "Müller, Zoë", "O'Brien, Sinéad"]


def test_another_list_is_told_which_forms_are_known(tmp_path):
    path = put(tmp_path, "Vollständiger Name,E-Mail\nAnna Abt,a@school.example\n")
    with pytest.raises(ClassroomError, match="line 1: expected one column 'student', got Vollst") as error:
        read_class(path)
    for form in forms.FORMS:
        assert form.title in str(error.value)
    assert read_class(path, column="Vollständiger Name") == ["Anna Abt"]
    with pytest.raises(ClassroomError, match="expected one column 'Name', got"):
        read_class(path, column="Name")


def test_a_column_that_the_teacher_names_holds_the_ids_and_the_rest_still_helps(tmp_path):
    people = read_people(put(tmp_path, CANVAS), column="SIS Login ID")
    assert [one.student for one in people] == ["anna.abt", "anna.abt2", "zoe", "sinead"]
    assert downloads.Class(people).students("abtanna_1002_5_x") == ["anna.abt2"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("Name,Email\nAnna Abt,\nAnna Abt,\n", "line 2 and line 3: expected students whom a number or an address"),
        ("Name,Email\nAnna Abt,a@b\nanna abt ,A@B\n", "line 2 and line 3: expected students whom a number"),
        ("Name,Email\nAnna,a@b\n,\nBo,\n", "line 3: expected a student, got an empty row"),
        ("Name,Email\nAnna,a@b\n,c@d\n", "line 3: student: expected at least one character"),
        (CANVAS.split('"Abt')[0], "expected at least one student, got none"),
        (CANVAS.replace("Section", "ID", 1), "expected one column 'student'"),
        (CANVAS.replace("Notes", "ID", 1), "expected one column 'ID', got"),
        (b"Name,Email\nAnn\xe9,a@b\n", "expected UTF-8, got byte 0xe9"),
    ],
)
def test_a_wrong_list_names_the_line(tmp_path, content, says):
    with pytest.raises(ClassroomError, match=says):
        read_class(put(tmp_path, content))


def test_toytf_sheet_takes_a_list_of_canvas(tmp_path, capsys):
    path = put(tmp_path, MARK + CANVAS.encode())
    words = ["sheet", "--key", "k" * 40, "--topics", "product", "--out", str(tmp_path / "out")]
    assert main([*words, "--class", str(path), "--student-column", "SIS Login ID"]) == 0
    assert "4 sheets in" in capsys.readouterr().out
    assert len(list((tmp_path / "out").glob("zoe-*.html"))) == 1
    assert main([*words, "--student", "zoe", "--student-column", "x"]) == 2
    assert "--student-column: expected a class list" in capsys.readouterr().err


def test_what_tells_two_apart_has_to_be_fit_for_an_id_too(tmp_path):
    both = "First name,Last name,ID number\nAnna,Abt,2026/17\nAnna,Abt,2026/18\n"
    with pytest.raises(
        ClassroomError, match=r"line 2: student: expected a name that a file can have, got 'Anna Abt \(2026/17"
    ):
        own.read_names(put(tmp_path, both))
    assert own.read_names(put(tmp_path, both.replace("/", "-")))[0] == "Anna Abt (2026-17)"


# ---------------------------------------------------------------- who handed it in


def found(folder, names, content=HONEST):
    """A folder as it is unpacked: files where a name ends in .ipynb, else folders with one notebook."""
    for name in names:
        path = folder / name if "." in name else folder / name / "week3.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder, submission.find(folder).found


def whose(result):
    return {one.student: one.path and one.path.name for one in result.found}


def matched(tmp_path, content, names):
    people = read_people(put(tmp_path, content))
    return downloads.matched(*found(tmp_path / "submissions", names), people)


def test_canvas_s_files_are_found_by_their_number_late_and_handed_in_again(tmp_path):
    names = [
        "abtanna_1001_998_week3.ipynb",
        "abtanna_1001_5560_week3-1.ipynb",
        "abtanna_1001_5559_week3-2.ipynb",
        "abtanna_LATE_1002_5552_week_3.ipynb",
        "mu\u0308llerzoe\u0308_LATE_1003_5553_Week 3.ipynb",
        "somebody_2000_1_week3.ipynb",
    ]
    result = matched(tmp_path, CANVAS, names)
    assert whose(result) == {
        ANNAS[0]: names[1],
        ANNAS[1]: names[3],
        "Müller, Zoë": names[4],
        "somebody_2000_1_week3": names[5],
    }
    assert result.notes == [
        "Abt, Anna (1001): handed in 3 times; the newest counts, abtanna_1001_5560_week3-1.",
        "Abt, Anna (1002): handed in late, says the name of the file.",
        "Müller, Zoë: handed in late, says the name of the file.",
    ]


def test_letters_spelled_in_two_ways_are_one_name(tmp_path):
    ours = downloads.Class(read_people(put(tmp_path, "student\nZoë Müller\n")))
    for name in ("mu\u0308llerzoe\u0308_7_8_x", "Zoe\u0308 Mu\u0308ller_7_assignsubmission_file"):
        assert ours.students(name) == ["Zoë Müller"]


def test_an_empty_line_in_a_table_is_no_trouble(tmp_path):
    odd = CANVAS.replace('"Müller', '\n"Müller')
    result = fill(graded(tmp_path, [("zoe", "1"), (ANNAS[0], "2")]), put(tmp_path, odd), "Week 3 (4711)")
    assert result.filled == [ANNAS[0]]


def test_two_notebooks_of_different_names_are_not_chosen_from(tmp_path):
    result = matched(tmp_path, CANVAS, ["müllerzoë_1003_1_a.ipynb", "müllerzoë_1003_2_b.ipynb"])
    (one,) = result.found
    assert (one.student, one.path) == ("Müller, Zoë", None)
    assert one.reason.startswith("Expected one notebook (.ipynb), got 2: müllerzoë_1003_1_a, ")
    assert "none is graded" in result.notes[0]


@pytest.mark.parametrize("end", ["", "_"])
def test_moodle_s_folders_are_found_by_their_number_or_by_the_name(tmp_path, end):
    names = [f"Anna Abt_2002_assignsubmission_file{end}", f"Sinéad OBrien_2004_assignsubmission_file{end}"]
    text = tmp_path / "submissions" / f"Sinéad OBrien_2004_assignsubmission_onlinetext{end}"
    text.mkdir(parents=True)
    (text / "onlinetext.html").write_text("See the notebook.")
    result = matched(tmp_path, WORKSHEET, names)
    assert whose(result) == {"Anna Abt (anna2@school.example)": "week3.ipynb", "Sinéad O'Brien": "week3.ipynb"}
    assert list(result.handed_in.values()) == names
    by_name = downloads.Class(read_people(put(tmp_path, PARTICIPANTS)))
    assert [by_name.students(name) for name in names] == [["Anna Abt"], ["Sinéad O'Brien"]]
    assert by_name.students(f"Abt Anna_9_assignsubmission_file{end}") == ["Anna Abt"]


def test_moodle_s_files_without_folders_are_found_too(tmp_path):
    name = "Zoë Müller_2003_assignsubmission_file_my_week_3.ipynb"
    result = matched(tmp_path, WORKSHEET, [name])
    assert whose(result) == {"Zoë Müller": name}
    assert result.handed_in == {"Zoë Müller": "Zoë Müller_2003_assignsubmission_file_"}


def test_gradescope_s_folders_are_found_by_its_list_and_a_group_s_is_everybody_s(tmp_path):
    put(tmp_path, "", "x")
    (tmp_path / "submissions").mkdir()
    put(tmp_path / "submissions", METADATA, downloads.METADATA)
    result = matched(tmp_path, ROSTER, ["submission_77", "submission_78", "submission_79"])
    assert sorted((one.student, one.path.parent.name) for one in result.found) == [
        ("Anna Abt (anna2@school.example)", "submission_78"),
        ("Anna Abt (anna@school.example)", "submission_77"),
        ("Zoë Müller", "submission_78"),
        ("submission_79", "submission_79"),
    ]
    put(tmp_path / "submissions", "submissions: 3\n", downloads.METADATA)
    with pytest.raises(ClassroomError, match="expected submission_NUMBER with its :submitters:, got none"):
        downloads.matched(tmp_path / "submissions", result.found, read_people(put(tmp_path, ROSTER)))


def test_somebody_of_gradescope_s_list_who_is_not_in_the_class_is_named(tmp_path):
    (tmp_path / "submissions").mkdir()
    put(tmp_path / "submissions", METADATA, downloads.METADATA)
    short = "\n".join(line for line in ROSTER.splitlines() if "302" not in line)
    result = matched(tmp_path, short, ["submission_78"])
    assert whose(result) == {"Zoë Müller": "week3.ipynb"}
    assert result.notes == ["submission_78: handed in by Anna Abt, who is not in the class list."]


@pytest.mark.parametrize(
    ("content", "name", "both"),
    [
        (CANVAS, "müllerzoë_1001_1_x.ipynb", ["Abt, Anna (1001)", "Müller, Zoë"]),
        (WORKSHEET, "Zoë Müller_2004_assignsubmission_file", ["Sinéad O'Brien", "Zoë Müller"]),
        (ROSTER, "Anna Abt_5_assignsubmission_file", ["Anna Abt (anna@", "Anna Abt (anna2@"]),
        ("student\nAnna Abt\nAbt Anna\n", "abtanna_1_2_x.ipynb", ["Anna Abt", "Abt Anna"]),
    ],
)
def test_where_two_students_fit_both_are_named_and_nobody_is_guessed(tmp_path, content, name, both):
    with pytest.raises(ClassroomError, match="expected one student of the class list, got") as error:
        matched(tmp_path, content, [name])
    for each in both:
        assert each in str(error.value)


def test_a_worksheet_of_another_assignment_finds_nobody_and_says_why(tmp_path):
    result = matched(tmp_path, WORKSHEET, ["Zoë Müller_3003_assignsubmission_file"])
    assert whose(result) == {"Zoë Müller_3003_assignsubmission_file": "week3.ipynb"}
    assert "with another number. Is it the list of this course, and of this assignment?" in result.notes[0]


def test_files_by_login_or_address_are_found_and_plain_names_stay_as_they_are(tmp_path):
    result = matched(tmp_path, CANVAS, ["ZOE.ipynb", "1002.ipynb", "O'Brien, Sinéad.ipynb", "nobody.ipynb"])
    assert sorted(whose(result)) == ["Abt, Anna (1002)", "Müller, Zoë", "O'Brien, Sinéad", "nobody"]
    ours = matched(tmp_path / "submissions", "student\nanna\nbob\n", [" bob.ipynb", "anna.ipynb"])
    assert sorted(whose(ours)) == [" bob", "anna"]


# ---------------------------------------------------------------- grades into a system's table


def graded(folder, rows, name="grades.csv"):
    """A grades.csv with points of 7, and one exercise that a person has still to read if `remark` says so."""
    lines = ['"student","points","out of","8.8","9.3","remark"']
    for student, points, *remark in rows:
        cells = [student, points, "7" if points else "", points, "" if remark else "0", *(remark or [""])]
        lines.append(",".join(f'"{cell}"' for cell in cells))
    return put(folder, "\n".join(lines) + "\n", name)


def cells(data_, separator=","):
    return list(csv.reader(io.StringIO(data_.decode("utf-8-sig"), newline=""), delimiter=separator))


@pytest.mark.parametrize(
    ("content", "column", "student", "at"),
    [
        (CANVAS, "Week 3 (4711)", "O'Brien, Sinéad", 6),
        (WORKSHEET, None, "Sinéad O'Brien", 4),
        (PARTICIPANTS, "Assignment: Week 3 (Real)", "Sinéad O'Brien", 5),
        (DOWNLOADED, None, "Zoë Müller", 5),
    ],
)
@pytest.mark.parametrize("mark", [b"", MARK])
@pytest.mark.parametrize("separator", [",", ";"])
def test_only_the_cell_of_the_grade_changes(tmp_path, content, column, student, at, mark, separator):
    made = io.StringIO()
    csv.writer(made, delimiter=separator).writerows(csv.reader(io.StringIO(content)))
    before = mark + made.getvalue().encode()
    result = fill(graded(tmp_path, [(student, "4.5")]), put(tmp_path, before), column)
    assert (result.filled, result.left) == ([student], [])
    assert result.data.startswith(MARK) == bool(mark)
    assert b"\r\n" in result.data
    old, new = cells(before, separator), cells(result.data, separator)
    differ = [(i, j) for i, row in enumerate(old) for j, cell in enumerate(row) if new[i][j] != cell]
    assert [len(row) for row in old] == [len(row) for row in new]
    (row,) = {i for i, _ in differ}
    assert [j for _, j in differ] == [at]
    assert new[row][at] == "4.5"


def test_grades_graded_without_a_class_list_are_found_by_the_names_of_files_too(tmp_path):
    rows = [("abtanna_LATE_1002_5_week3", "3"), ("somebody_9_9_x", "1")]
    result = fill(graded(tmp_path, rows), put(tmp_path, CANVAS), "Week 3 (4711)")
    assert (result.filled, result.left) == ([ANNAS[1]], ["somebody_9_9_x"])


def test_who_has_no_grade_stays_empty_and_what_canvas_decided_stays(tmp_path):
    rows = [(ANNAS[0], "2", "to be read: 9.3"), (ANNAS[1], ""), ("Müller, Zoë", "6")]
    result = fill(graded(tmp_path, rows), put(tmp_path, CANVAS), "Week 3 (4711)")
    assert [row[6] for row in cells(result.data)[3:]] == ["2", "", "EX", "", ""]
    assert result.notes == [
        "1 student with answers that nobody has read: points may still grow.",
        "no points, so nothing was filled in, for 'Abt, Anna (1002)'.",
        "Müller, Zoë: EX stays in 'Week 3 (4711)'.",
    ]


def test_another_grade_that_is_there_is_replaced_only_with_force(tmp_path):
    grades, table = graded(tmp_path, [(ANNAS[0], "4")]), put(tmp_path, CANVAS.replace(",10.00,", ",7.00,"))
    with pytest.raises(
        ClassroomError, match=r"line 4: expected no grade for 'Abt, Anna \(1001\)' yet, got 4.50 \(new: 4\)"
    ):
        fill(grades, table, "Week 4 (4712)")
    assert cells(fill(grades, table, "Week 4 (4712)", force=True).data)[3][7] == "4"
    same = fill(graded(tmp_path, [(ANNAS[0], "4.5")]), table, "Week 4 (4712)")
    assert same.filled == [ANNAS[0]]


def test_points_of_another_maximum_are_refused_or_turned(tmp_path):
    grades, table = graded(tmp_path, [("Zoë Müller", "3.5")]), put(tmp_path, WORKSHEET.replace("7.00", "100.00"))
    with pytest.raises(ClassroomError, match="Maximum Grade: expected 7 points as in the grades, got 100.00. --scale"):
        fill(grades, table)
    assert cells(fill(grades, table, scale=True).data)[3][4] == "50"
    with pytest.raises(ClassroomError, match="Points Possible: expected 7 points as in the grades, got 10.00"):
        fill(graded(tmp_path, [("zoe", "1")]), put(tmp_path, CANVAS), "Week 4 (4712)")


@pytest.mark.parametrize(
    ("rows", "column", "says"),
    [
        ([("zoe", "1")], None, "--column: expected the column of .* for the grades, got none; there are Student"),
        ([("zoe", "1")], "Week 5", "--column: expected one column of .*, got 'Week 5'; there are Student"),
        ([("zoe", "1"), ("Müller, Zoë", "2")], "Week 3 (4711)", "expected each student once, got 'Müller, Zoë' after"),
        ([("müllerzoë_1001_1_x", "1")], "Week 3 (4711)", "line 2: expected one student of the table, got"),
        ([("zoe", "many")], "Week 3 (4711)", "line 2: expected points as toytf grade writes them, got 'many'"),
        ([("zoe", "nan")], "Week 3 (4711)", "line 2: expected points as toytf grade writes them, got 'nan'"),
    ],
)
def test_what_is_wrong_with_grades_or_column_is_said(tmp_path, rows, column, says):
    with pytest.raises(ClassroomError, match=says):
        fill(graded(tmp_path, rows), put(tmp_path, CANVAS), column)


def test_no_cell_becomes_a_formula_and_numbers_stay_numbers(tmp_path):
    odd = CANVAS.replace("late often", '"=HYPERLINK(""http://x"")"').replace("45.0,45.0", "-1.5,-")
    result = fill(graded(tmp_path, [("zoe", "1")]), put(tmp_path, odd), "Week 3 (4711)")
    assert cells(result.data)[4][5] == '\'=HYPERLINK("http://x")'
    assert cells(result.data)[3][-2:] == ["-1.5", "-"]
    assert "1 cell that a spreadsheet could take for a formula" in result.notes[-1]
    again = fill(graded(tmp_path, [("zoe", "1")]), put(tmp_path, result.data), "Week 3 (4711)")
    assert again.data == result.data


def test_the_command_overwrites_nothing_and_names_who_is_not_in_the_table(tmp_path, capsys):
    grades, table, out = graded(tmp_path, [("zoe", "1"), ("eve", "2")]), put(tmp_path, WORKSHEET), tmp_path / "up.csv"
    words = ["export", str(grades), "--into", str(table), "--out", str(out)]
    graded(tmp_path, [("Zoë Müller", "1"), ("eve", "2")])
    assert main(words) == 1
    said = capsys.readouterr()
    assert said.out == f"{out}: grades of 1 student\n"
    assert said.err == f"error: not in {table}: 'eve'\n"
    first = out.read_bytes()
    graded(tmp_path, [("Zoë Müller", "2")])
    assert main(words) == 2
    assert "is there and holds something else; --force replaces it" in capsys.readouterr().err
    assert out.read_bytes() == first
    assert main([*words, "--force"]) == 0
    assert main(["export", str(grades), "--into", str(table), "--out", str(table), "--force"]) == 2
    assert table.read_text("utf-8") == WORKSHEET
    assert "expected another file than those that are read" in capsys.readouterr().err


# ---------------------------------------------------------------- from an archive to the upload


ARCHIVES = {
    "canvas": (
        CANVAS,
        "Week 3 (4711)",
        {
            "abtanna_1001_1_week3.ipynb": data(IMPORTS, STUB, BLANK),
            "abtanna_1001_2_week3-1.ipynb": HONEST,
            "abtanna_LATE_1002_3_week3.ipynb": HONEST,
        },
        [ANNAS[0], ANNAS[1]],
        ["4", "4", "EX", "0", ""],
    ),
    "moodle": (
        WORKSHEET,
        "Grade",
        {
            "Anna Abt_2002_assignsubmission_file/w.ipynb": HONEST,
            "Zoë Müller_2003_assignsubmission_file/Woche 3.ipynb": HONEST,
            "Zoë Müller_2003_assignsubmission_onlinetext/onlinetext.html": b"<p>Hello</p>",
        },
        ["Anna Abt_2002_assignsubmission_file", "Zoë Müller_2003_assignsubmission_file"],
        ["0", "4", "4", "0"],
    ),
    "gradescope": (
        DOWNLOADED,
        "Total Score",
        {"submission_77/week3.ipynb": HONEST, "submission_metadata.yml": METADATA.encode()},
        ["Anna Abt"],
        ["4", "0"],
    ),
}


@pytest.mark.parametrize("system", ARCHIVES)
def test_from_a_downloaded_archive_to_the_table_for_upload(system, tmp_path, capsys):
    box = gradecheck.sandbox_or_skip()
    content, column, files, folders, cells_ = ARCHIVES[system]
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for name, bytes_ in files.items():
            archive.writestr(name, bytes_)
    week = gradecheck.folder(tmp_path / "week", {})
    zipfile.ZipFile(tmp_path / "all.zip").extractall(week)
    table = put(tmp_path, MARK + content.encode())
    out = tmp_path / "grades.csv"
    summary, receipts = gradecheck.grade(week, out, box, class_list=table)
    assert {one.points for one in receipts.values() if not one.reason} == {4}
    assert not any("not in the class list" in note for note in summary.notes)
    archive, without = feedback_zip(out)
    assert without == []
    handed_back = [name.partition("/")[0] for name in zipfile.ZipFile(io.BytesIO(archive)).namelist()]
    assert set(folders) <= set(handed_back)
    words = ["--column", column, "--out", str(tmp_path / "upload.csv")]
    assert main(["export", str(out), "--into", str(table), *words]) == 0
    at = cells(table.read_bytes())[0].index(column)
    uploaded = cells((tmp_path / "upload.csv").read_bytes())
    assert [row[at] for row in uploaded[-len(cells_) :]] == cells_


def test_numbers_of_one_s_own_go_out_and_come_back_by_canvas_s_list(tmp_path, capsys):
    gradecheck.sandbox_or_skip()
    table, week = put(tmp_path, CANVAS), tmp_path / "week5"
    key = ["--key", "k" * 40]
    assign = ["assign", "--exercises", "8.8", "9.1", "--own-numbers", "--class", str(table), "--out", str(week)]
    assert main([*assign, *key]) == 0, capsys.readouterr().err
    students = sorted(path.stem for path in (week / "students").iterdir())
    assert students == [*ANNAS, "Müller, Zoë", "O'Brien, Sinéad"]
    files = {ANNAS[1]: "abtanna_LATE_1002_3_week5.ipynb", "Müller, Zoë": "müllerzoë_1003_4_Müller, Zoë.ipynb"}
    for student, name in files.items():
        (week / "instructor" / f"{student}.ipynb").rename(week / "submissions" / name)
    words = ["--class", str(table), *key, "--out", str(tmp_path / "g.csv"), "--jobs", "2"]
    assert main(["grade", str(week / "submissions"), *words]) == 0
    said = capsys.readouterr().err
    assert "Abt, Anna (1002): handed in late" in said
    assert "not in the class list" not in said
    rows = {row[0]: row[1] == row[2] for row in cells((tmp_path / "g.csv").read_bytes())[1:]}
    assert rows == {student: student in files for student in students}
