"""The training loop. It knows nothing of the model: parameters and a function that gives loss and gradients."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tqdm import tqdm

from toytf._door import Count, door
from toytf._process import one_thread_if_small, whole_step
from toytf.optim import gradient_length
from toytf.tree import count


@dataclass(frozen=True)
class Record:
    """What one step of training was like."""

    step: int  # from 1
    loss: float  # of this step's batch, before the step
    learning_rate: float
    gradient_length: float  # the root of the sum of the squares of all gradients


@door
def train(
    params,
    loss_and_gradients: Callable,
    data: Iterable,
    optimiser,
    learning_rate: Callable[[int], float],
    steps: Count,
    *,
    progress: bool | None = None,
) -> Iterator[Record]:
    """Improve `params` in place, step by step; yield a `Record` after each.

    Stop reading the records, and training stops. Ctrl-C ends the step under way and then stops
    with a message: `params` are those after the last whole step, nothing learned is lost.

    ``loss_and_gradients(params, batch) -> (loss, gradients)`` gives gradients of the class of `params`, any dataclass
    of arrays, for a batch of `data`, which for example `toytf.corpus.batches` makes. An optimiser has a method
    ``step(params, gradients, learning_rate)``, for example that of `toytf.optim.Adam`; `learning_rate` goes from the
    step, counted from 1, to the rate.

    If `progress` is left out, there is a bar in a terminal and none in a pipe; in a notebook where somebody runs it,
    but not where a program does, whose outputs are stored and compared.

    A loss or a gradient that is no longer finite is a `FloatingPointError`; `params` are as the step found them.

    Find the lowest point of ``(gamma - 3)^2``:

    >>> import numpy as np
    >>> from toytf.ops import LayerNorm
    >>> from toytf.optim import Adam
    >>> def bowl(p, batch):
    ...     return float((p.gamma - 3) @ (p.gamma - 3)), LayerNorm(2 * (p.gamma - 3), np.zeros(1))
    >>> p = LayerNorm(np.zeros(1), np.zeros(1))
    >>> records = list(train(p, bowl, [None] * 200, Adam(), lambda t: 0.1, 200, progress=False))
    >>> f"{records[0].loss:.2f} {records[-1].loss:.2f} {p.gamma[0]:.2f}"
    '9.00 0.00 3.00'
    """
    data = iter(data)
    with tqdm(
        total=steps, disable=not _show(progress), leave=False, unit="step", file=sys.stderr, mininterval=0.2
    ) as bar:
        for step in range(1, steps + 1):
            try:
                batch = next(data)
            except StopIteration:
                raise ValueError(f"data: expected a batch for each of {steps} steps, got {step - 1}") from None
            with one_thread_if_small(count(params)), whole_step() as interrupted:
                loss, gradients = loss_and_gradients(params, batch)
                rate, length = learning_rate(step), gradient_length(gradients)
                _require_finite(step, rate, loss, length)
                optimiser.step(params, gradients, rate)
            bar.set_postfix_str(f"loss {loss:.4f}", refresh=False)
            bar.update()
            yield Record(step, loss, rate, length)
            if interrupted:
                bar.close()
                print(f"stopped by hand after step {step} of {steps}; what was learned is kept", file=sys.stderr)
                return


def _require_finite(step: int, rate: float, loss: float, length: float) -> None:
    """Explain why this step cannot be taken, if it cannot."""
    if not (math.isfinite(loss) and math.isfinite(length)):
        raise FloatingPointError(
            f"step {step}: expected a finite loss and finite gradients, got loss {loss} and a gradient of length "
            f"{length} (learning rate {rate:.3g}). The parameters are those after step {step - 1}. "
            "A smaller learning rate, more warm-up steps or clipping (toytf.optim.clip) may help"
        )


def _show(progress: bool | None) -> bool:
    """Whether somebody is there to look at a progress bar."""
    if progress is not None:
        return progress
    if sys.stderr.isatty():
        return True
    interactive = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if not hasattr(interactive, "kernel"):
        return False
    # In a notebook: JupyterLab and VS Code let a cell ask for input, `make notebooks` and nbval do not.
    request = interactive.kernel.get_parent() or {}
    return request.get("content", {}).get("allow_stdin", True)
