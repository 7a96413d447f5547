"""Feedback pages: one file for each student, and one for the teacher that links to them.

A page is inert. It holds no script and loads nothing, and a policy in its head forbids both; what a
student's code printed, or wrote where others read it, stands in it as text.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections import Counter
from urllib.parse import quote

from toytf.teach.grade.grading import Assignment, Receipt, Result
from toytf.teach.grade.submission import plain

STYLE = """
:root { color-scheme: light dark; --line: #8886; --soft: #8881; --good: #0a6b2d; --bad: #a02010; --wait: #6a4a00; }
@media (prefers-color-scheme: dark) { :root { --good: #6fdc8c; --bad: #ff9a8a; --wait: #f1c75b; } }
html { background: Canvas; color: CanvasText; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 0 0 .3rem; }
section { border: 1px solid var(--line); border-radius: .5rem; padding: .7rem .9rem; margin: .8rem 0; }
pre { background: var(--soft); padding: .5rem; overflow-x: auto; white-space: pre-wrap; font-size: .85rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .5rem; border-bottom: 1px solid var(--line); }
td:first-child { min-width: 6rem; } td.n, th.n { text-align: right; white-space: nowrap; } .scroll { overflow-x: auto; }
.good { color: var(--good); } .bad { color: var(--bad); } .wait { color: var(--wait); } small { opacity: .8; }
"""
POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-"
    + base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    + "'"
)


def number(value: float | None) -> str:
    """Points as people write them: 2, 0.4; a line where a person has still to read."""
    return "–" if value is None else f"{round(value, 2):g}"


def text(value: str) -> str:
    return html.escape(plain(value, 30_000), quote=True)


def _pre(value: str) -> str:
    return f'<pre tabindex="0">{text(value)}</pre>' if "\n" in value else f"<p>{text(value)}</p>"


def _page(title: str, body: str) -> bytes:
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    ).encode("utf-8", "replace")


# ---------------------------------------------------------------- a student's page


def student_page(receipt: Receipt, assignment: Assignment) -> bytes:
    """What one student is told: points and words for each exercise, and what the code printed."""
    waiting = [result.number for result in receipt.results if result.points is None]
    parts = [f"<h1>{text(assignment.title)}</h1>", f"<p>{text(receipt.student)}</p>"]
    if not receipt.graded:  # why is for the teacher
        parts.append('<section><p class="wait">Not graded yet. Your teacher has to look at it.</p></section>')
        return _page(f"{assignment.title}: {receipt.student}", "\n".join(parts))
    parts.append(f"<p><strong>{number(receipt.points)} of {number(assignment.points)} points</strong></p>")
    if receipt.reason:
        parts.append(f'<section><p class="bad">{text(receipt.reason)}</p></section>')
    if waiting:
        parts.append(f'<p class="wait">Still to be read by a person: {text(", ".join(waiting))}.</p>')
    if not receipt.reason:
        parts += [_result(result) for result in receipt.results]
        parts += [f"<p><small>{text(note)}</small></p>" for note in receipt.notes]
        parts += _cells(receipt)
    graded = f"Graded was the file with the SHA-256 hash {receipt.sha256}." if receipt.sha256 else "No file was graded."
    parts.append(f"<p><small>{graded}</small></p>")
    return _page(f"{assignment.title}: {receipt.student}", "\n".join(parts))


def _result(result: Result) -> str:
    full = result.points is not None and result.points >= result.out_of
    colour = "wait" if result.points is None else "good" if full else "bad"
    name = f" {result.name}" if result.name else ""
    lines = [f"<h2>{text(result.number + name)}: {number(result.points)} of {number(result.out_of)}</h2>"]
    lines.append(f'<p class="{colour}">{text(result.headline)}</p>')
    block: list[str] = []
    for detail in result.details:
        if len(detail) > 100 and "\n" not in detail:
            lines += [_block(block), _pre(detail)]
            block = []
        else:
            block.append(detail)
    lines.append(_block(block))
    if result.text:
        lines += ["<p>Your answer:</p>", f'<pre tabindex="0">{text(result.text)}</pre>']
    return "<section>\n" + "\n".join(line for line in lines if line) + "\n</section>"


def _block(lines: list[str]) -> str:
    return f'<pre tabindex="0">{text(chr(10).join(lines))}</pre>' if lines else ""


def _cells(receipt: Receipt) -> list[str]:
    if not receipt.cells:
        return []
    parts = ["<h2>What your cells printed</h2>", "<p><small>As text; pictures are not kept.</small></p>"]
    for cell in receipt.cells:
        lines = [f"<p>Code cell {int(cell['cell'])}</p>"]
        if cell.get("error"):
            lines.append(f'<p class="bad">{text(cell["error"])}</p>')
        if cell.get("note"):
            lines.append(f"<p>{text(cell['note'])}</p>")
        if cell.get("printed"):
            lines.append(f'<pre tabindex="0">{text(cell["printed"])}</pre>')
        parts.append("<section>\n" + "\n".join(lines) + "\n</section>")
    return parts


# ---------------------------------------------------------------- the teacher's page


def index_row(receipt: Receipt, file: str) -> str:
    """One student's line in the teacher's table, with a link to the page."""
    link = f'<a href="{quote(file)}">{text(receipt.student)}</a>'
    points = number(receipt.points if receipt.graded else None)
    cells = "".join(f'<td class="n">{number(result.points)}</td>' for result in receipt.results)
    return f'<tr><td>{link}</td><td class="n">{points}</td>{cells}<td>{text(remark(receipt))}</td></tr>'


def index_page(rows: list[str], mistakes: list[tuple[str, str]], assignment: Assignment, notes: list[str]) -> bytes:
    """All students in one table, with links to their pages; for the teacher, not for students.

    Parameters
    ----------
    rows : list of str
        From `index_row`.
    mistakes : list of (str, str)
        Exercise and name of each known mistake that was made.
    assignment : Assignment
    notes : list of str
    """
    head = "".join(f'<th class="n">{text(e.number)}</th>' for e in assignment.exercises)
    total = number(assignment.points)
    parts = [
        f"<h1>{text(assignment.title)}</h1>",
        f"<p>{len(rows)} students. A line (–) stands for what a person has to read.</p>",
        '<div class="scroll"><table>',
        f'<thead><tr><th>Student</th><th class="n">of {total}</th>{head}<th>Remark</th></tr></thead>',
        "<tbody>",
        *rows,
        "</tbody></table></div>",
        *_most_frequent(mistakes),
        *(f"<p>{text(note)}</p>" for note in notes),
        "<p><small>For the teacher. Each student gets the page that is linked here, not this one.</small></p>",
    ]
    return _page(f"{assignment.title}: all", "\n".join(parts))


def _most_frequent(mistakes: list[tuple[str, str]]) -> list[str]:
    """Which mistakes were made how often: what to talk about in class."""
    if not mistakes:
        return []
    most = sorted(Counter(mistakes).items(), key=lambda item: (-item[1], item[0]))[:10]
    lines = [f"<li>{text(where)}: {text(mistake)} ({count})</li>" for (where, mistake), count in most]
    return ["<h2>The most frequent mistakes</h2>", "<ul>", *lines, "</ul>"]


def remark(receipt: Receipt) -> str:
    """What a teacher wants to know of a submission besides its points."""
    if receipt.reason:
        return receipt.reason
    waiting = [result.number for result in receipt.results if result.points is None and result.kind == "text"]
    said = [f"to be read: {', '.join(waiting)}"] if waiting else []
    return "; ".join(said + ([f"look at: {', '.join(receipt.failed)} (the checker failed)"] if receipt.failed else []))
