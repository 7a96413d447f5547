"""Several steps as one strip, in which each number leads back to those that it was made of."""

from __future__ import annotations

import html as _html
import re
from dataclasses import dataclass, replace

from toytf._validate import as_bool, number, require_class, require_width, shown, shown_class
from toytf.byhand import panels
from toytf.byhand.operations import _matrix, divide, matmul, softmax, table, weighted_sum
from toytf.byhand.workings import Shown, Working

FEW = 14  # so many steps are seen at once; of more, the last part is open and the others are opened
LINK = re.compile(r"\[([^\]]+)\]\(([^\s():]+)\)")  # no colon: a page of the book, not an address


@dataclass(frozen=True, eq=False, repr=False)
class Chain(Shown):
    """Steps in their order; strings among them are headings."""

    steps: tuple[Working | str, ...]
    seen: str | None = None  # the heading of the part that is open; None: all, or the last

    @property
    def workings(self) -> tuple[Working, ...]:
        """The steps without the headings."""
        return tuple(step for step in self.steps if isinstance(step, Working))

    def text(self) -> str:
        """Return it as plain text, for a terminal."""
        return "\n\n".join(LINK.sub(r"\1", s) if isinstance(s, str) else s.text() for s in self.steps)

    def html(self) -> str:
        """Return it as HTML: the tables in order, then one ``<details>`` with all sums; no script needed."""
        parts: list[tuple[str, list[Working]]] = [("", [])]
        for step in self.steps:
            if isinstance(step, str):
                parts.append((step, []))
            else:
                parts[-1][1].append(step)
        out, known = "", []
        for heading, inside in parts:
            shown = ""
            for step in inside:
                shown += panels.panel(step, known, in_chain=True)
                known.append(step)
            body = shown and f'<div class="byhand-beside">{shown}</div>'
            if heading:
                last = len(self.workings) <= FEW or heading == parts[-1][0]
                opened = " open" if (heading == self.seen if self.seen else last) else ""
                said, links = _linked(heading)
                body = f'<details class="byhand-part"{opened}><summary>{said}</summary>{links}{body}</details>'
            out += body
        if n := sum(len(w.entries) for w in self.workings):
            lines = "".join(
                f'<div data-k="{k}"><i>{_html.escape(w._heading())}</i>{panels.sum_lines(w)}</div>'
                for k, w in enumerate(self.workings)
                if w.entries
            )
            out += f'<details class="byhand-sums"><summary>All {n} entries, worked out</summary>{lines}</details>'
        return f'<div class="byhand-chain">{out}</div>'


def _linked(heading: str) -> tuple[str, str]:
    """The words of a heading, and its links below: a link inside of what opens could not be reached by all."""
    escaped = _html.escape(heading)
    links = ", ".join(f'<a href="{to}">{words}</a>' for words, to in LINK.findall(escaped))
    return LINK.sub(r"\1", escaped), f'<p class="byhand-away">→ {links}</p>' if links else ""


def chain(*steps: Working | str, seen: str | None = None) -> Chain:
    """Show steps as one strip: an entry lights what it is made of in the steps before, and so back to the first.

    Steps are tables and results, each after those that it was made of. A string is the heading of those after it and
    may hold links to pages: ``"Scores ([chapter 4](04_self_attention.ipynb))"``. Only the part under the
    heading `seen` is open; without it all parts, or of many steps the last. No step, or one that stands before a
    step that it was made of, is a `ValueError`.

    >>> from toytf import byhand
    >>> X = byhand.table([[1, 2]], "X", rows=["Hello"])
    >>> Q = byhand.matmul(X, [[1], [1]], "Q", "X W")
    >>> print(byhand.chain(X, Q, byhand.matmul(Q, Q.T, "S")))
    X (1 x 2)
           1  2
    Hello  1  2
    <BLANKLINE>
    Q = X W (1 x 1)
           1
    Hello  3
    [Hello, 1] = 1·1 + 2·1 = 1 + 2 = 3
    <BLANKLINE>
    S = Q Qᵀ (1 x 1)
           Hello
    Hello      9
    [Hello, Hello] = 3·3 = 9
    """
    for step in steps:
        if not isinstance(step, (Working, str)):
            raise TypeError(f"steps: expected tables as matmul gives them and headings, got {shown_class(step)}")
    workings = [step for step in steps if isinstance(step, Working)]
    if not workings:
        raise ValueError(f"steps: expected at least one table, got {shown(steps)}")
    for k, step in enumerate(workings):
        for operand in step.operands:
            if panels.place(operand, workings[:k]) is None and panels.place(operand, workings[k:]) is not None:
                raise ValueError(f"steps: expected {operand.name or 'each operand'} before {step.name or 'its result'}")
    if seen is not None and seen not in steps:
        headings = [step for step in steps if isinstance(step, str)]
        raise ValueError(f"seen: expected one of the headings {headings}, got {shown(seen)}")
    return Chain(tuple(steps), seen)


def attention(
    q, k, v, name: str = "out", *, divisor=None, subtract_max=True, rows=None, decimals=4, sci=False
) -> Chain:
    """Attention as a whole, a chain of its steps: ``softmax(q kᵀ / √d_k) v``.

    `q` is (rows, d_k), `k` is (keys, d_k), `v` is (keys, d_v); `rows` are the labels of `q`. Another `divisor` than
    √d_k can be given; all else is as in `softmax` and `table`. The steps are queries, keys, values, scores, scaled
    scores, weights, output.

    >>> strip = attention([[2, 0]], [[1, 0], [0, 1]], [[6], [8]], divisor=2, rows=["it"])
    >>> [step.name for step in strip.workings]
    ['Q', 'K', 'V', 'S', 'scaled', 'A', 'out']
    >>> print(strip.workings[-1])
    out = A V (1 x 1)
             1
    it  6.5379
    [it] ≈ 0.7311·[6] + 0.2689·[8] ≈ [4.3864] + [2.1515] ≈ [6.5379]
    """
    require_class("name", name, str)
    start = [
        _given(array, label, at, rows, decimals) for array, label, at in ((q, "Q", "q"), (k, "K", "k"), (v, "V", "v"))
    ]
    queries, keys, values = start
    require_width("q", queries.result, "k", keys.result, axis=-1)
    how = {"decimals": decimals, "sci": sci}
    scores = matmul(queries, keys.T, "S", **how)
    by = queries.result.shape[1] if divisor is None else number("divisor", divisor)
    scaled = divide(scores, by, "scaled", root=divisor is None, decimals=decimals)
    steps = [*start, scores, scaled]
    steps.append(softmax(scaled, "A", subtract_max=as_bool("subtract_max", subtract_max), **how))
    steps.append(weighted_sum(steps[-1], values, name, **how))
    return chain(*steps)


def _given(x, label: str, argument: str, rows, decimals) -> Working:
    """A table of what the attention starts from; the arithmetic that gave it is another panel's."""
    if isinstance(x, Working):
        return replace(x, formula="", entries=(), operands=(), name=x.name or label)
    return table(_matrix(argument, x), label, rows=rows if argument == "q" else None, decimals=decimals)
