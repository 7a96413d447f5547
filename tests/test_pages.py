"""Pages from templates: whatever is written into one is text, and a missing Jinja2 is said before the work."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from toytf.teach import pages
from toytf.teach.exports.files import package_files, requirements
from toytf.teach.plain_text import CONTROL

ODD = "<script>alert(1)</script> & \" onload='x' \x1b[31m\u202e {{ 7 * 7 }} {% raw %}"


@pytest.mark.parametrize("template", ["{{ x }}", '<a title="{{ x }}">', "{{ [x, x]|join(', ') }}", "{{ x ~ x }}"])
def test_no_sign_of_a_text_is_taken_for_html_or_for_a_template(template):
    page = pages.environment().from_string(template).render(x=ODD)
    outside = page.removeprefix('<a title="').removesuffix('">')
    assert not re.search("[<>\"']", outside)
    assert not CONTROL.search(page)
    assert "{{ 7 * 7 }}" in page


@given(st.text())
def test_a_text_comes_out_as_text(text):
    page = pages.environment().from_string("<p>{{ x }}</p>").render(x=text)
    inside = page.removeprefix("<p>").removesuffix("</p>")
    assert "<" not in inside and ">" not in inside and not CONTROL.search(inside)


def test_what_is_html_already_is_not_escaped_again():
    assert pages.environment().from_string("{{ x }}").render(x=Markup("<b>1</b>")) == "<b>1</b>"


@pytest.mark.parametrize("path", sorted(pages.TEMPLATES.glob("*.html")), ids=lambda path: path.name)
def test_no_template_turns_escaping_off(path):
    text = path.read_text("utf-8")
    assert "autoescape" not in text
    assert not re.search(r"\|\s*safe\b", text)


@pytest.mark.parametrize(
    "words",
    [
        ["sheet", "--student", "anna", "--key", "x" * 40, "--out", "out"],
        ["exam", "--key", "x" * 40, "--out", "out"],
        ["grade", "week", "--out", "g.csv"],
    ],
)
def test_without_jinja2_a_command_that_writes_pages_says_what_to_install(words, tmp_path):
    (tmp_path / "week").mkdir()
    (tmp_path / "week" / "assignment.json").write_text(
        '{"format": "toytf assignment", "version": 1, "exercises": '
        '[{"label": "a", "number": "1", "kind": "text", "points": 1}]}'
    )
    code = f"import sys; sys.modules['jinja2'] = None; from toytf.__main__ import main; sys.exit(main({words!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert done.returncode == 2
    assert done.stderr == 'error: pages: expected Jinja2 to be installed, got none; pip install "toytf[teach]"\n'
    assert [path.name for path in tmp_path.iterdir()] == ["week"]


def test_an_export_takes_the_templates_along_and_lists_what_grading_imports():
    taken = package_files("")
    assert {f"toytf/teach/templates/{path.name}" for path in pages.TEMPLATES.iterdir()} <= taken.keys()
    code = (
        "import sys, toytf.teach.grade.cli, toytf.teach.exports.gradescope, toytf.teach.exports.classroom\n"
        "from toytf.teach.pages import environment; environment()\n"
        "files = [getattr(m, '__file__', None) or '' for m in list(sys.modules.values())]\n"
        "print(*(f for f in files if 'site-packages' in f), sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    names = {Path(line.partition("site-packages")[2]).parts[1] for line in done.stdout.splitlines()}
    names = {name.removesuffix(".py") for name in names if not name.startswith("_")}
    listed = {line.split("==")[0] for line in requirements().splitlines() if "==" in line}
    assert {"numpy", "jinja2"} <= names <= listed
