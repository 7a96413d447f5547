"""A computation as a strip of numbers: a nudge runs forward, slopes run back, and each number opens to its sum."""

from __future__ import annotations

from toytf.byhand import fmt
from toytf.live.element import SAID, Element, table

NUDGE = "0.1"
HEADS = ("", "number", "moves by", "slope")
MADE = {"u": "u = w x", "y": "y = u + b", "z": "z = y − goal", "L": "L = z²"}


def strip(w: float, x: float, b: float, goal: float, *, id: str = "strip") -> Element:
    """Nudge a number and see it run to the loss; take the slopes back, step by step::

        u = w x,   y = u + b,   z = y - goal,   L = z^2
        dL = 1,   dz = 2z dL,   dy = dz,   du = db = dy,   dw = x du,   dx = w du

    Its settings are the three numbers, which of them is nudged and by how much, and how many steps are done. It begins
    before the first step; without a script, all are done.

    Parameters
    ----------
    w, x, b : float
        The weight, what it is multiplied by, and what is added.
    goal : float
        What `y` should be.
    id : str
        The element's address on its page, ``#strip?w=3&step=4``.

    Returns
    -------
    Element

    Examples
    --------
    >>> print(strip(2, 3, -1, 4))
    A nudge runs forward, slopes run back
    w = 2, moves by 0.1, slope 6
    x = 3, moves by 0, slope 4
    u = 6, moves by 0.3, slope 2
    b = -1, moves by 0, slope 2
    y = 5, moves by 0.3, slope 2
    z = 1, moves by 0.3, slope 2
    L = 1, moves by 0.69, slope 1
    """
    numbers, moved = run(w, x, b, goal), run(w + float(NUDGE), x, b, goal)
    slopes = back(numbers)
    moves = {name: moved[name] - number for name, number in numbers.items()}
    lines = [
        (MADE.get(name, name).replace("goal", _short(goal)), *map(_short, (number, moves[name], slopes[name])))
        for name, number in numbers.items()
    ]
    told = "\n".join(
        f"{name} = {_short(number)}, moves by {_short(moves[name])}, slope {_short(slopes[name])}".replace("−", "-")
        for name, number in numbers.items()
    )
    data = {"w": w, "x": x, "b": b, "goal": goal, "nudge": NUDGE}
    return Element(
        "strip", "A nudge runs forward, slopes run back", data, f"{SAID}{table('strip', lines, HEADS)}", told, id
    )


def run(w: float, x: float, b: float, goal: float) -> dict[str, float]:
    """Return all numbers on the way to the loss, in their order.

    >>> run(2, 3, -1, 4)["L"]
    1
    """
    u = w * x
    y = u + b
    z = y - goal
    return {"w": w, "x": x, "u": u, "b": b, "y": y, "z": z, "L": z * z}


def back(numbers: dict[str, float]) -> dict[str, float]:
    """Return the slope of the loss by each of them, from the loss back.

    >>> back(run(2, 3, -1, 4))["w"]
    6
    """
    dz = 2 * numbers["z"]
    return {"w": dz * numbers["x"], "x": dz * numbers["w"], "u": dz, "b": dz, "y": dz, "z": dz, "L": 1}


def _short(value: float) -> str:
    return f"{float(fmt(value)):g}".replace("-", "−")
