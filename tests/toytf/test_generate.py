"""What `toytf.generate` promises beside what `test_properties` compares with plain Python."""

from dataclasses import dataclass

import numpy as np

from toytf.generate import beam_search, greedy, start, stepper
from toytf.model import Config, init

SOS, EOS = 0, 1


@dataclass(frozen=True)
class Tree:
    """A hand-made model: the next token's probabilities depend on the tokens so far."""

    table: dict
    prefixes: tuple = ((),)

    def take(self, rows):
        return Tree(self.table, tuple(self.prefixes[row] for row in rows))


def walk(tree, ids):
    """A step through a `Tree`; the start token is left out of the prefix."""
    prefixes = tuple((*p, int(i)) if i != SOS else p for p, i in zip(tree.prefixes, ids, strict=True))
    with np.errstate(divide="ignore"):
        logits = np.log([tree.table[prefix] for prefix in prefixes])
    return logits, Tree(tree.table, prefixes)


def test_greedy_is_led_down_the_garden_path_and_a_beam_of_two_is_not():
    # Tokens: 0 start, 1 end, 2 "a", 3 "I". Greedy takes "a" (0.6), but the best sentence starts with "I".
    tree = Tree({(): [0, 0, 0.6, 0.4], (2,): [0, 0.5, 0.25, 0.25], (3,): [0, 0.9, 0.05, 0.05]})
    (found,) = greedy(walk, tree, sos=SOS, eos=EOS, max_length=2)
    assert found.ids == (2, 1) and np.isclose(np.exp(found.log_prob), 0.30)
    (found,) = beam_search(walk, tree, width=2, sos=SOS, eos=EOS, max_length=2)
    assert found.ids == (3, 1) and np.isclose(np.exp(found.log_prob), 0.36)


def test_a_state_is_never_changed():
    cfg = Config(src_vocab=9, tgt_vocab=5, d_model=6, n_heads=2, d_ff=7, n_encoder_layers=2, n_decoder_layers=3)
    params = init(cfg, np.random.default_rng(0))
    step = stepper(params, cfg)
    _, state = step(start(params, cfg, [1, 2, 3, 4]), [SOS])
    first, _ = step(state, [2])
    step(state, [3])
    np.testing.assert_array_equal(first, step(state, [2])[0])
    assert state.ids.shape == (1, 1)
