"""The positional encoding as clocks: a position moves along them, and a shift turns every hand."""

from __future__ import annotations

import math

import numpy as np

from toytf import byhand
from toytf.byhand import Entry, Num, Power, Quotient, fmt
from toytf.live.element import Element
from toytf.positions import BASE, shift, sinusoids

WIDTHS = (4, 8, 16)  # a clock for every two columns: of more no hand would be told from the next
LAST = 200  # position
FURTHEST = 100  # steps from the one position to the other
DECIMALS = 5  # the first small steps of the slow hands
SIZE, RADIUS, LABEL, CLOSEST, SECTOR = 104, 36, 44, 4.5, 16  # of a dial's picture; CLOSEST is for a digit
# What is in it, for clocks.js too: the hand at pos, as sine and cosine, that at pos + k, dashed, the turn between them
DIAL = (
    f'<circle class="live-rim" r="{RADIUS}"/><path class="live-up" d="M0 0L0.00 -{RADIUS:.2f}"/>'
    f'<path class="live-sector" d="M0 0L{{from}}A{SECTOR} {SECTOR} 0 {{large}} 1 {{to}}Z"/>'
    '<path class="live-later" d="M0 0L{later}"/><circle class="live-later-tip" transform="translate({later})" r="3"/>'
    '<path class="live-hand" d="M0 0L{tip}"/><path class="live-leg-cos" d="M0 0L{foot}"/>'
    '<path class="live-leg-sin" d="M{foot}L{tip}"/><circle class="live-tip" transform="translate({tip})" r="3"/>'
    "{labels}"
)


def clocks(d_model: int = 4, *, pos: int = 1, k: int = 3, id: str = "clocks") -> Element:
    """Move a position along the clocks of the positional encoding, and see its row change::

        angle of clock i = pos / 10000^(2i / d_model),   PE[pos + k] = PE[pos] shift(k)

    A pair of columns is a clock: its sine says how far right the tip of the hand is, its cosine how far up.

    Parameters
    ----------
    d_model : int, default 4
        Width of the encoding at first: 4, 8 or 16, a clock for every two columns.
    pos : int, default 1
        The position at first, at most 200.
    k : int, default 3
        How many steps further a second position is at first, at most 100.
    id : str
        The element's address on its page, ``#clocks?pos=7&k=1``.

    Returns
    -------
    Element

    Notes
    -----
    *Attention Is All You Need*, section 3.5.

    Examples
    --------
    >>> print(clocks(4, pos=1, k=1).text.splitlines()[3])
    PE[pos + k]  0.90930  -0.41615  0.02000  0.99980
    """
    places = {"rows": ["PE[pos]", "PE[pos + k]"], "decimals": DECIMALS}
    encodings = {width: byhand.positions([pos, pos + k], width, **places) for width in WIDTHS}
    turned = byhand.matmul(
        encodings[d_model].result[:1, :2],
        shift(k, d_model)[:2, :2],
        "hand[pos + k]",
        "hand[pos] turn",
        rows=["row"],
        cols=["sin", "cos"],
        decimals=DECIMALS,
    )
    panels = "".join(
        f'<div class="live-width" data-width="{width}"{"" if width == d_model else " hidden"}>{encoding.html()}</div>'
        for width, encoding in encodings.items()
    )
    static = (
        f'<div class="live-dials{" live-few" if d_model < WIDTHS[-1] else ""}">{_dials(pos, k, d_model)}</div>{panels}'
        f'<details class="live-step"><summary>How a step turns one hand</summary><p class="live-turn">'
        f'{_turn(0, k, d_model)}</p><div class="live-turned">{turned.html()}</div></details>'
    )
    sizes = {"radius": RADIUS, "label": LABEL, "closest": CLOSEST, "sector": SECTOR, "dial": DIAL}
    data = {"d_model": d_model, "widths": list(WIDTHS), "last": LAST, "furthest": FURTHEST, "pos": pos, "k": k}
    data |= sizes | {"decimals": DECIMALS}
    title = "Move the position: how far does a step turn each hand?"
    return Element("clocks", title, data, static, f"{encodings[d_model].text()}\n{turned.text()}", id)


def _turn(i: int, k: int, d_model: int) -> str:
    """The angle by which `k` steps turn a clock's hand, worked out."""
    power = Power(Num(BASE), Quotient(Num(2.0 * i), Num(float(d_model))))
    by = float(power.value)
    entry = Entry(
        f"Turn of clock {i}", (Quotient(Num(float(k)), power), Quotient(Num(float(k)), Num(by)), Num(k / by, 6))
    )
    return f"<b>{entry.where}</b> " + " ".join(f"{relation} {step}" for relation, step in entry.chain("html"))


# ---------------------------------------------------------------- the dials


def _dials(pos: int, k: int, d_model: int) -> str:
    """All clocks of the widest encoding; those that `d_model` has not are hidden."""
    dials = []
    for i in range(WIDTHS[-1] // 2):
        there = 2 * i < d_model
        width = d_model if there else WIDTHS[-1]
        hands = sinusoids(2, width, pos)[0], sinusoids(1, width, pos + k)[0]
        angle = k / BASE ** (2 * i / width)
        sin, cos = (fmt(x, DECIMALS).replace("-", "−") for x in hands[0][2 * i : 2 * i + 2])
        dials.append(
            f'<figure class="live-dial"{"" if there else " hidden"}>'
            f"{_picture(i, pos, k, *(hand[2 * i : 2 * i + 2] for hand in hands), angle)}"
            f'<figcaption><span class="live-name">clock {i}</span>'
            f'<span class="live-sin">sin → <span>{sin}</span></span>'
            f'<span class="live-cos">cos ↑ <span>{cos}</span></span></figcaption></figure>'
        )
    return "".join(dials)


def _picture(i: int, pos: int, k: int, hand: np.ndarray, later: np.ndarray, angle: float) -> str:
    """One dial. clocks.js fills it again."""

    def at(place, radius):
        return f"{fmt(radius * place[0], 2)} {fmt(-radius * place[1], 2)}"

    near = np.hypot(*(later - hand)) * LABEL < CLOSEST * len(f"{pos}{pos + k}")

    def label(name, place, text):
        anchor = "start" if place[0] > 0.5 else "end" if place[0] < -0.5 else "middle"
        by = LABEL + 4 * (anchor == "middle")  # above and below, the knob's own height lies between
        text = f"{text}, {pos + k}" if near and anchor == "middle" and k else text
        return f'<text class="live-{name}" transform="translate({at(place, by)})" text-anchor="{anchor}">{text}</text>'

    parts = {"from": at(hand, SECTOR), "to": at(later, SECTOR), "large": int(angle % math.tau > math.pi)}
    parts |= {"tip": at(hand, RADIUS), "later": at(later, RADIUS), "foot": at((0.0, hand[1]), RADIUS)}
    parts["labels"] = ("" if near else label("later-at", later, pos + k)) + label("at", hand, pos)
    return (
        f'<svg viewBox="{-SIZE / 2:g} {-SIZE / 2:g} {SIZE} {SIZE}" role="img" '
        f'aria-label="{_said(i, pos, k, hand, later)}">{DIAL.format(**parts)}</svg>'
    )


def _said(i: int, pos: int, k: int, hand: np.ndarray, later: np.ndarray) -> str:
    def place(p, row):
        return f"position {p} at sine {fmt(row[0], DECIMALS)} and cosine {fmt(row[1], DECIMALS)}".replace("-", "−")

    return f"Dial of clock {i}: {place(pos, hand)}, {place(pos + k, later)}."
