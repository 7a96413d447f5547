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
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def two_threads():
    if not threads():
        pytest.skip("NumPy's products here are of a kind whose threads cannot be told")
    with threadpool_limits(2, user_api="blas"):
        assert set(threads()) == {2}
        yield


def noting(seen):
    """A loss and gradients for `train`, which note on how many threads they were asked for."""

    def loss_and_gradients(p, batch):
        seen.extend(threads())
        if batch is None:
            raise ValueError("no batch")
        return 1.0, LayerNorm(np.ones_like(p.gamma), np.ones_like(p.beta))

    return loss_and_gradients


def trained(p, data, seen):
    return train(p, noting(seen), data, Adam(), lambda t: 0.1, len(data), progress=False)


def test_a_small_model_learns_on_one_thread_and_who_reads_the_records_has_all():
    seen = []
    for _ in trained(LayerNorm(np.zeros(1), np.zeros(1)), [1, 2, 3], seen):
        assert set(threads()) == {2}
    assert set(seen) == {1} and set(threads()) == {2}


def test_after_an_error_in_training_there_are_as_many_threads_as_before():
    seen = []
    with pytest.raises(ValueError, match="no batch"):
        list(trained(LayerNorm(np.zeros(1), np.zeros(1)), [1, None], seen))
    assert set(seen) == {1} and set(threads()) == {2}


@pytest.mark.parametrize(("more", "expected"), [(0, 1), (1, 2)])
def test_a_large_model_keeps_its_threads(more, expected):
    seen, half = [], _process.SMALL // 2
    list(trained(LayerNorm(np.zeros(half), np.zeros(half + more)), [1], seen))
    assert set(seen) == {expected} and set(threads()) == {2}


def test_a_translator_writes_on_one_thread_and_puts_the_others_back(monkeypatch):
    seen, greedy = [], translator.greedy

    def noting_greedy(*arguments, **how):
        seen.extend(threads())
        return greedy(*arguments, **how)

    monkeypatch.setattr(translator, "greedy", noting_greedy)
    trained_one = Translator.load()
    assert trained_one.translate(["hello world"]) == ["hola mundo"]
    assert set(seen) == {1} and set(threads()) == {2}
    monkeypatch.setattr(translator, "pad", None)  # so that writing fails
    with pytest.raises(TypeError):
        trained_one.translate(["hello world"])
    assert set(threads()) == {2}
    monkeypatch.undo()
    monkeypatch.setattr(translator, "greedy", noting_greedy)
    monkeypatch.setattr(_process, "SMALL", 1000)  # as if it were a large one
    seen.clear()
    trained_one.translate(["hello world"])
    assert set(seen) == {2}


def test_a_translator_learns_on_one_thread():
    seen, rng = [], np.random.default_rng(0)
    one = Translator.new(rng, d_model=4, n_heads=1, d_ff=4)
    pairs = [translator.Pair(("hello",), ("hola",))] * 3

    def objective(*arguments, **how):
        seen.extend(threads())
        return translator.loss_and_gradients(*arguments, **how)

    list(one.learn(pairs, rng, steps=2, batch_size=2, progress=False, objective=objective))
    assert set(seen) == {1} and set(threads()) == {2}
