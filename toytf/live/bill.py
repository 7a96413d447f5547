"""What it costs to train a model of so many parameters on so many tokens, to be moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toytf.live.element import SAID, Element, table


def bill(models: Mapping[str, Sequence[float]], *, machine: str, peak: float, id: str = "bill") -> Element:
    """Move what a training costs::

        hours = 6 parameters tokens / (3600 peak mfu)

    Parameters
    ----------
    models : mapping
        Of each model that can be chosen: parameters in billions, tokens in trillions, and the share of the peak that
        is used, in percent. The sliders begin with the last.
    machine : str
        What is hired.
    peak : float
        The most FLOP a second of one machine.
    id : str
        The element's address on its page, ``#bill?parameters=8&tokens=15``.

    Returns
    -------
    Element

    Examples
    --------
    >>> print(bill({"405B": (405, 15.6, 35)}, machine="H100", peak=989e12))
    What would your model cost?
    dollars: 76,000,000
    hours of one H100: 30,000,000
    tokens a parameter: 39
    """
    names = "parameters", "tokens", "mfu"
    known = {name: dict(zip(names, numbers, strict=True)) for name, numbers in models.items()}
    start = known[list(known)[-1]] | {"hour": 2.5}
    parameters, tokens, mfu, _ = start.values()
    hours = 6 * parameters * 1e9 * tokens * 1e12 / (3600 * peak * mfu / 100)
    lines = [
        ("dollars", two_digits(hours * start["hour"])),
        (f"hours of one {machine}", two_digits(hours)),
        ("tokens a parameter", two_digits(1000 * tokens / parameters)),
    ]
    data = {"models": known, "start": start, "peak": peak}
    text = "\n".join(f"{name}: {number}" for name, number in lines)
    return Element("bill", "What would your model cost?", data, table("bill", lines) + SAID, text, id)


def two_digits(x: float) -> str:
    x = float(f"{x * (1 + 1e-9):.2g}")  # up from the half: of 3.65 floats make 3.6499...
    return f"{x:,.0f}" if x >= 10 else f"{x:.9f}".rstrip("0").rstrip(".")
