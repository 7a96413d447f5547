"""Numbers as `toytf.byhand` writes them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toytf.byhand import fmt


@pytest.mark.parametrize(
    ("x", "decimals", "text"),
    [
        ([[1, -0.00004], [10.5, 2]], 4, "[[ 1.0000  0.0000]\n [10.5000  2.0000]]"),
        (-0.0, 2, "0.00"),
        (np.array([1, 20]), 4, "[ 1 20]"),
        ([np.nan, np.inf, -np.inf], 1, "[ nan  inf -inf]"),
    ],
)
def test_numbers_have_fixed_decimals_aligned_columns_and_no_negative_zero(x, decimals, text):
    assert fmt(x, decimals) == text


@given(st.floats(-1e6, 1e6), st.integers(0, 8))
def test_what_is_written_is_the_number_rounded_to_the_last_place(x, decimals):
    assert abs(float(fmt(x, decimals)) - x) <= 0.5 * 10.0**-decimals + 1e-9


def test_words_are_refused():
    with pytest.raises(TypeError, match="expected numbers, got dtype"):
        fmt("abc")
