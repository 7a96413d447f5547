"""Every PyTorch listing gives again what is stored, the texts of errors included."""

import json

import numpy as np
import pytest
import torch

import listings
from toytf.course.pytorch import STORED, stored


def differences(found, stored):
    """The names of all results that are not what was stored."""

    def same(now, then):
        if isinstance(now, np.ndarray):
            return np.shape(then) == now.shape and np.allclose(now, then, rtol=0, atol=1e-10, equal_nan=True)
        return type(now) is type(then) and now == then

    there = found.keys() & stored.keys()
    return sorted([*(found.keys() ^ stored.keys()), *(name for name in there if not same(found[name], stored[name]))])


def test_the_stored_results_are_of_the_torch_that_runs():
    assert json.loads(STORED.read_text("utf-8"))["torch"] == torch.__version__.split("+")[0], "make test-torch STORE=1"


@pytest.mark.parametrize("name", listings.names())
def test_a_listing_gives_again_what_is_stored(name):
    assert differences(listings.run(name), stored(name)) == []


def test_a_planted_change_is_caught():
    found = stored("masks")
    key, other, *_ = found
    changed = {**found, key: found[key] * (1 + 1e-9)}
    del changed[other]
    assert differences(changed, found) == sorted([key, other])
