"""On how many threads a model computes, and that what was asked of the process is put back."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from toytf import _process, translator
from toytf.ops import LayerNorm
from toytf.optim import Adam
from toytf.train import train
from toytf.translator import Translator


def threads():
    """On how many threads NumPy's products run."""
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    if not threads():
        pytest.skip("NumPy's products here are of a kind whose threads cannot be told")
    with threadpool_limits(2, user_api="blas"):
        yield
        assert threads() == {2}  # put back, after errors too


@pytest.mark.parametrize(("size", "expected"), [(1, 1), (_process.SMALL // 2 + 1, 2)])
def test_a_small_model_learns_on_one_thread_and_who_reads_the_records_has_all(size, expected):
    def loss_and_gradients(p, batch):
        assert threads() == {expected}
        if batch is None:
            raise ValueError("no batch")
        return 1.0, LayerNorm(np.ones(size), np.ones(size))

    p = LayerNorm(np.zeros(size), np.zeros(size))
    records = train(p, loss_and_gradients, [1, None], Adam(), lambda t: 0.1, 2, progress=False)
    next(records)
    assert threads() == {2}
    with pytest.raises(ValueError, match="no batch"):
        next(records)


def test_a_translator_writes_on_one_thread(monkeypatch):
    def noting_greedy(*arguments, **how):
        assert threads() == {1}
        return greedy(*arguments, **how)

    greedy = translator.greedy
    monkeypatch.setattr(translator, "greedy", noting_greedy)
    assert Translator.load().translate(["hello world"]) == ["hola mundo"]
