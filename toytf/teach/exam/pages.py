"""How an exam and its answer sheet are written: one page of HTML each, to be printed."""

from __future__ import annotations

from toytf.teach import markdown
from toytf.teach.exam.papers import Fault, Numbers, Paper, Task
from toytf.teach.exam.questions import Question
from toytf.teach.pages import environment
from toytf.teach.paper import SIZES

LINES = {Numbers: 0.8, Question: 1.4, Fault: 1.2}  # ruled lines for each point


def exam_page(paper: Paper, size: str = "a4") -> str:
    """The exam: a cover with a table of points, and the tasks with room to write."""
    return _page(paper, size, answers=False)


def answer_page(paper: Paper, size: str = "a4") -> str:
    """The answer sheet: sums worked out, answers in words, and what the points are for."""
    return _page(paper, size, answers=True)


def _page(paper: Paper, size: str, answers: bool) -> str:
    template = environment().get_template("exam.html")
    from markupsafe import Markup  # it comes with Jinja2

    from toytf.teach.worksheet import typeset

    page = template.render(
        paper=paper,
        answers=answers,
        size=SIZES[size],
        lines=_lines,
        kind=_kind,
        typeset=typeset,
        styles=Markup(markdown.code_styles()),
        prose=lambda text: Markup(markdown.html(text)),
        inline=lambda text: Markup(markdown.inline(text)),
        numbered=lambda *code: Markup(_numbered(*code)),
    )
    return f"{page}\n"


def _kind(task: Task) -> str:
    return "numbers" if isinstance(task, Numbers) else "fault" if isinstance(task, Fault) else "words"


def _lines(task: Task) -> int:
    """How many ruled lines are left for a task."""
    return round(LINES[type(task)] * task.points)


def _numbered(source: str, wrong: int | None = None) -> str:
    """Code with its lines numbered; one of them may be marked."""
    start, end = '<pre class="code">', "</pre>\n"
    rows = markdown.code(source.rstrip("\n")).removeprefix(start).removesuffix(end).split("\n")
    lines = (
        f'<span class="row{" wrong" * (number == wrong)}"><span class="no">{number}</span>{row}</span>'
        for number, row in enumerate(rows, start=1)
    )
    return f'<pre class="code numbered">{"".join(lines)}{end}'
