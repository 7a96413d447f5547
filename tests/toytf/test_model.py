"""What `toytf.model` promises beside its numbers, which `test_properties` and `test_gradients` hold."""

import numpy as np
import pytest

from toytf.model import Config, backward, forward, init
from toytf.ops import cross_entropy, cross_entropy_backward
from toytf.optim import Adam
from toytf.tree import named_arrays

CFG = Config(11, 13, d_model=6, n_heads=2, d_ff=7, n_encoder_layers=2, n_decoder_layers=3, norm="pre", bias=True)
SRC, TGT = np.array([[1, 2, 3, 4], [5, 6, 7, 8]]), np.array([[1, 2, 3], [4, 5, 6]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_is_modified_and_gradients_have_the_parameters_class_shapes_and_dtype(dtype):
    params = init(CFG, np.random.default_rng(0), dtype)
    kept, src, tgt = {name: array.copy() for name, array in named_arrays(params).items()}, SRC.copy(), TGT.copy()
    logits, trace = forward(params, CFG, src, tgt)
    grads = backward(params, CFG, trace, cross_entropy_backward(cross_entropy(logits, tgt)[1]))
    assert type(grads) is type(params) and logits.dtype == trace.encoder.out.dtype == dtype
    assert (src == SRC).all() and (tgt == TGT).all()
    for name, array in named_arrays(params).items():
        np.testing.assert_array_equal(array, kept[name], err_msg=name)
        assert named_arrays(grads)[name].shape == array.shape and named_arrays(grads)[name].dtype == dtype, name
    Adam().step(params, grads, 0.1)
    assert all(array.dtype == dtype for array in named_arrays(params).values())
