"""A checker: its right function, the inputs that it draws, and the mistakes that it knows.

How your function is compared stands in `toytf.check.compare`. Inputs are made so that no known mistake passes
on them, whatever is drawn, and no right function is refused because of rounding.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from toytf.check import mistakes
from toytf.check.compare import Case, Inputs, Outcome, Report, allowed, call, diagnose, right_outcomes, same
from toytf.check.mistakes import Mistake

__all__ = ["Case", "Check", "Inputs", "Mistake", "Outcome", "Report", "checker", "diagnose", "normals"]


@dataclass
class Check:
    """The checker of one exercise; call it with your function.

    The solution solves the exercise with NumPy alone. Its name, arguments and docstring are what a student is
    given; its source is the solution.
    """

    solution: Callable
    exercise: str  # its label in the book: "ex-08-7"
    cases: Callable[[np.random.Generator], list[Case]] | None = None  # draws inputs, the smallest first
    results: tuple[str, ...] = ("result",)  # names of what is returned
    tolerance: float = 1e-9  # the largest difference that is taken for rounding, relative to numbers above 1
    points: int = 2

    def __post_init__(self):
        self.name = self.solution.__name__
        self.mistakes_as_text = ""
        self.__doc__ = (
            f"Check your `{self.name}` ({self.exercise}): ``check.{self.name}(mine)`` says whether it is right, "
            f"or what it looks like.\n\n{inspect.getdoc(self.solution)}"
        )

    def __call__(self, mine: Callable) -> None:
        """Print what `report` says."""
        print(self.report(mine))

    def report(self, mine: Callable) -> Report:
        """Compare `mine` with the right function, on the same inputs at every call."""
        if not callable(mine):
            told = f"expected your function, got {type(mine).__name__}"
            return Report(False, f"{self.name}: {told}. Write check.{self.name}({self.name}), without calling it.")
        return diagnose(self, self.inputs, [call(mine, case.args) for case in self.inputs])

    @cached_property
    def inputs(self) -> Inputs:
        """Those of `report`: drawn once."""
        return self.draw(np.random.default_rng(0))

    def draw(self, rng: np.random.Generator) -> Inputs:
        """Draw inputs: `cases`, with what functions of ours give on them."""
        return Inputs(self.cases(rng))

    def looks_like(self, inputs: Inputs, outcomes: Sequence[Outcome]) -> Mistake | None:
        """The first known mistake that gives these outcomes; if none does, the first two that give them together."""

        def gives(mistake: Mistake) -> bool:
            pairs = zip(outcomes, inputs.given(mistake.function), strict=True)
            return all(same(mine, other, allowed(self, mine)) for mine, other in pairs)

        known = next(filter(gives, self.mistakes), None)
        failed = any(mine.kind != ours.kind for mine, ours in zip(outcomes, right_outcomes(self, inputs), strict=True))
        if known or failed:  # of two mistakes many fail alike
            return known
        return next(filter(gives, self.two_at_once), None)

    def knows(self, mistakes: str) -> None:
        """Set the known mistakes, written as edits of the solution (`toytf.check.mistakes`)."""
        self.mistakes_as_text = mistakes

    @cached_property
    def mistakes(self) -> tuple[Mistake, ...]:
        """The known mistakes: read and compiled when the first is asked for."""
        return tuple(mistakes.read(self.mistakes_as_text, self.solution, self.source)) if self.mistakes_as_text else ()

    @cached_property
    def two_at_once(self) -> tuple[Mistake, ...]:
        """Each two of them, where both are edits."""
        return tuple(mistakes.two_at_once(self.mistakes, self.solution, self.source))

    @property
    def parameters(self) -> list[str]:
        """The names of the function's arguments."""
        return list(inspect.signature(self.solution).parameters)

    @cached_property
    def source(self) -> str:
        """The solution, as text, from its ``def`` on."""
        text = textwrap.dedent(inspect.getsource(self.solution))
        first = ast.parse(text).body[0].lineno - 1  # decorators stand before it
        return "".join(text.splitlines(keepends=True)[first:]).rstrip() + "\n"

    @property
    def stub(self) -> str:
        """What a student starts from: signature, docstring, and a line that says it is not written yet."""
        docstring = ast.parse(self.source).body[0].body[0]
        head = self.source.splitlines()[: docstring.end_lineno]
        return "\n".join([*head, f'    raise NotImplementedError("{self.name} is not written yet")']) + "\n"


def checker(exercise: str, **how) -> Callable[[Callable], Check]:
    """Make the function below it a `Check`: ``@checker("ex-08-8")``."""
    return lambda solution: Check(solution, exercise, **how)


def normals(rng: np.random.Generator, *shapes) -> tuple[np.ndarray, ...]:
    """Arrays of normal numbers, one of each shape: the arguments of a `Case`."""
    return tuple(rng.normal(size=shape) for shape in shapes)
