"""Every PyTorch listing gives again what is stored, the texts of errors included."""

import json
import re

import listings
import numpy as np
import pytest
import torch

from toytf.course.pytorch import STORED, stored

TEXT = STORED.read_text("utf-8")
TOLERANCE = 1e-10


def differences(found, stored):
    """One sentence for each result that is not what was stored."""
    problems = [f"{name}: only in one of the two" for name in found.keys() ^ stored.keys()]
    for name in sorted(found.keys() & stored.keys()):
        now, then = found[name], stored[name]
        if isinstance(now, np.ndarray):
            same = np.shape(then) == now.shape and np.allclose(now, then, rtol=0, atol=TOLERANCE, equal_nan=True)
        else:
            same = type(now) is type(then) and now == then
        if not same:
            problems.append(f"{name}: stored {then!r}, now {now!r}")
    return problems


def test_the_stored_results_are_of_the_torch_that_runs():
    found = json.loads(TEXT)
    message = "make them again: make torch-results"
    assert found["torch"] == torch.__version__.split("+")[0], message


@pytest.mark.parametrize("name", listings.names())
def test_a_listing_gives_again_what_is_stored(name):
    problems = differences(listings.run(name), stored(name))
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    ("listing", "key", "old", "new"),
    [
        ("masks", "nn.MultiheadAttention, mask", "1.0]", "0.999999999]"),
        ("mha_by_arguments", "shape of out", "[12, 64, 300]", "[64, 12, 300]"),
        ("mha_refusals", "width 299", "got 300", "got 301"),
        ("layers", "in use: two calls agree", "true", "false"),
        ("faults", "all hidden", '"nan"', "0.0"),
        ("faults", "8 heads of 300: columns", "296", "297"),
    ],
)
def test_a_planted_change_is_caught(listing, key, old, new):
    start = TEXT.index(json.dumps(key) + ":", TEXT.index(f'"{listing}": {{'))
    end = TEXT.index("\n", start)
    assert old in TEXT[start:end]
    changed = TEXT[:start] + TEXT[start:end].replace(old, new, 1) + TEXT[end:]
    problems = differences(listings.run(listing), stored(listing, changed))
    assert len(problems) == 1 and problems[0].startswith(f"{key}: stored ")


def test_a_missing_result_is_caught():
    there = stored("masks")
    key = "nothing left: with weights, training"
    del there[key]
    assert differences(listings.run("masks"), there) == [f"{key}: only in one of the two"]


def test_the_stored_file_is_written_again():
    """All but the last bits, which are rounded away: of thousands of numbers a few may round differently."""
    again = listings.dumps({name: listings.run(name) for name in listings.names()}, torch.__version__, np.__version__)
    number = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
    assert number.sub("#", again) == number.sub("#", TEXT)
