"""What `toytf.train` promises."""

import math
import os
import signal
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from toytf.ops import LayerNorm
from toytf.optim import Adam
from toytf.train import Record, train


class Descent:
    """Plain gradient descent, as `train` wants an optimiser."""

    def step(self, params, gradients, learning_rate):
        params.gamma -= learning_rate * gradients.gamma


def point(x=0.0):
    return LayerNorm(np.array([x]), np.zeros(1))


def bowl(p, centre):
    """(gamma - centre)^2 and its gradient."""
    away = p.gamma - centre
    return float(away @ away), LayerNorm(2 * away, np.zeros(1))


def test_each_step_yields_what_it_was_like_and_moves_the_parameters():
    p = point()
    records = list(train(p, bowl, [3.0, 3.0], Descent(), lambda t: 0.25 / t, 2, progress=False))
    # 0 -> 0 + 0.25 * 6 = 1.5 -> 1.5 + 0.125 * 3 = 1.875
    assert records == [Record(1, 9.0, 0.25, 6.0), Record(2, 2.25, 0.125, 3.0)]
    np.testing.assert_allclose(p.gamma, [1.875])


def test_nothing_happens_before_the_records_are_read_and_reading_may_stop_at_any_time():
    p = point()
    records = train(p, bowl, [3.0] * 10, Descent(), lambda t: 0.25, 10, progress=False)
    assert p.gamma[0] == 0
    next(records)
    assert p.gamma[0] == 1.5
    records.close()


@pytest.mark.parametrize(("loss", "gradient"), [(math.nan, 1.0), (math.inf, 1.0), (1.0, math.nan)])
def test_what_is_not_finite_stops_before_it_does_harm(loss, gradient):
    def breaks(p, batch):
        return (1.0, point(1.0)) if batch else (loss, point(gradient))

    p = point()
    with pytest.raises(
        FloatingPointError, match=rf"step 2: .*got loss {loss} .* length {gradient} .*those after step 1"
    ):
        list(train(p, breaks, [1, 0, 1], Descent(), lambda t: 0.1, 3, progress=False))
    np.testing.assert_allclose(p.gamma, [-0.1])


def test_batches_that_run_out_are_missed():
    with pytest.raises(ValueError, match="data: expected a batch for each of 3 steps, got 2"):
        list(train(point(), bowl, [3.0] * 2, Descent(), lambda t: 0.1, 3, progress=False))


def interrupting(at, times=1):
    """`bowl`, but somebody presses Ctrl-C in the middle of a step."""
    count = 0

    def loss_and_gradients(p, batch):
        nonlocal count
        count += 1
        if count == at:
            for _ in range(times):
                os.kill(os.getpid(), signal.SIGINT)
        return bowl(p, batch)

    return loss_and_gradients


def test_ctrl_c_ends_with_a_whole_step_and_keeps_what_was_learned(capsys, keyboard):
    p, q = point(), point()
    records = list(train(p, interrupting(at=4), [3.0] * 10, Adam(), lambda t: 0.1, 10, progress=False))
    list(train(q, bowl, [3.0] * 4, Adam(), lambda t: 0.1, 4, progress=False))
    assert len(records) == 4 and p.gamma == q.gamma
    assert capsys.readouterr().err == "stopped by hand after step 4 of 10; what was learned is kept\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_where_ctrl_c_is_ignored_it_stays_ignored(keyboard):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    records = list(train(point(), interrupting(at=2), [3.0] * 5, Adam(), lambda t: 0.1, 5, progress=False))
    assert len(records) == 5 and signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_second_ctrl_c_is_obeyed_at_once(keyboard):
    with pytest.raises(KeyboardInterrupt):
        list(train(point(), interrupting(at=2, times=2), [3.0] * 9, Adam(), lambda t: 0.1, 9, progress=False))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_training_works_outside_the_main_thread():
    p, found = point(), []
    worker = threading.Thread(
        target=lambda: found.extend(train(p, bowl, [3.0] * 3, Descent(), lambda t: 0.25, 3, progress=False))
    )
    worker.start()
    worker.join()
    assert len(found) == 3


def test_the_bar_shows_to_people_and_not_in_pipes_or_stored_outputs(capsys, monkeypatch):
    def run(progress=None):
        list(train(point(), bowl, [3.0] * 3, Descent(), lambda t: 0.25, 3, progress=progress))
        return capsys.readouterr().err

    assert run() == "" and "/3" in run(progress=True)
    for answers in (True, False):
        kernel = SimpleNamespace(get_parent=lambda answers=answers: {"content": {"allow_stdin": answers}})
        with monkeypatch.context() as notebook:
            shell = SimpleNamespace(kernel=kernel)
            notebook.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda shell=shell: shell))
            assert ("/3" in run()) == answers
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda self: True, raising=False)
    assert "/3" in run() and run(progress=False) == ""
