"""What `toytf.generate` promises."""

import dataclasses
import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from toytf.generate import beam_search, greedy, kept_tokens, sample, start, stepper
from toytf.model import Config, forward, init
from toytf.ops import log_softmax

SMALL = Config(src_vocab=9, tgt_vocab=5, d_model=6, n_heads=2, d_ff=7, n_encoder_layers=2, n_decoder_layers=3)
SRC = [[1, 2, 3, 4], [5, 6, 7, 8]]
SOS, EOS = 0, 1


def small(seed=0, **switches):
    cfg = dataclasses.replace(SMALL, **switches)
    params = init(cfg, np.random.default_rng(seed))
    if params.output is not None:
        params.output.weight *= 4  # decided opinions, so that greedy and beam can differ
    return params, cfg


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


# Tokens: 0 start, 1 end, 2 "a", 3 "I". Greedy takes "a" (0.6), but the best sentence starts with "I".
GARDEN_PATH = Tree({(): [0, 0, 0.6, 0.4], (2,): [0, 0.5, 0.25, 0.25], (3,): [0, 0.9, 0.05, 0.05]})


def test_greedy_is_led_down_the_garden_path_and_a_beam_of_two_is_not():
    args = {"sos": SOS, "eos": EOS, "max_length": 2}
    (found,) = greedy(walk, GARDEN_PATH, **args)
    assert found.ids == (2, 1) and np.isclose(np.exp(found.log_prob), 0.30)
    (found,) = beam_search(walk, GARDEN_PATH, width=2, **args)
    assert found.ids == (3, 1) and np.isclose(np.exp(found.log_prob), 0.36)


def test_cached_and_uncached_agree_where_the_source_is_padded():
    params, cfg = small()
    flags = [[True, True, True, False], [True, True, True, True]]
    step = stepper(params, cfg)
    logits = []
    for cached in (True, False):
        state = start(params, cfg, SRC, flags, cached)
        _, state = step(state, [0, 0])
        logits.append(step(state, [2, 3])[0])
    np.testing.assert_allclose(*logits, rtol=0, atol=1e-12)
    alone = step(step(start(params, cfg, SRC[0][:3]), [0])[1], [2])[0]
    np.testing.assert_allclose(logits[0][0], alone[0], atol=1e-12)


def every_sentence(params, cfg, src, longest):
    """All sentences up to a length, with their log-probabilities, one forward pass each."""
    words = [t for t in range(cfg.tgt_vocab) if t != EOS]
    for length in range(1, longest + 1):
        for body in itertools.product(words, repeat=length - 1):
            tokens = [*body, EOS]
            logits, _ = forward(params, cfg, src, [SOS, *body])
            yield tuple(tokens), float(log_softmax(logits)[range(length), tokens].sum())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("length_penalty", [0.0, 0.6])
def test_a_beam_as_wide_as_the_tree_finds_the_best_sentence_of_all(seed, length_penalty):
    params, cfg = small(seed)
    every = list(every_sentence(params, cfg, SRC[0], longest=4))
    rank = sorted(every, key=lambda s: -s[1] / ((5 + len(s[0])) / 6) ** length_penalty)
    found = beam_search(
        stepper(params, cfg),
        start(params, cfg, SRC[0]),
        sos=SOS, eos=EOS, max_length=4, width=5**4, n_best=3, length_penalty=length_penalty,
    )  # fmt: skip
    assert [h.ids for h in found] == [ids for ids, _ in rank[:3]]
    for h, (_, log_prob) in zip(found, rank, strict=False):
        assert h.log_prob == pytest.approx(log_prob, abs=1e-10) and h.ended


def test_a_sentence_that_reaches_the_limit_says_so():
    params, cfg = small()
    params.output.bias[EOS] = -1e4
    for found in (
        greedy(stepper(params, cfg), start(params, cfg, SRC[0]), sos=SOS, eos=EOS, max_length=3),
        beam_search(stepper(params, cfg), start(params, cfg, SRC[0]), sos=SOS, eos=EOS, max_length=3, width=2),
    ):
        assert len(found[0].ids) == 3 and not found[0].ended and EOS not in found[0].ids


def test_sentences_written_side_by_side_are_those_written_alone():
    params, cfg = small(3)
    args = {"sos": SOS, "eos": EOS, "max_length": 9}
    both = greedy(stepper(params, cfg), start(params, cfg, SRC), n=2, **args)
    for row in range(2):
        (alone,) = greedy(stepper(params, cfg), start(params, cfg, SRC[row]), **args)
        assert alone.ids == both[row].ids and alone.log_prob == pytest.approx(both[row].log_prob, abs=1e-10)


def test_sampling_follows_the_probabilities():
    tree = Tree({(): [0, 0.1, 0.6, 0.3]})
    rng = np.random.default_rng(0)
    drawn = [sample(walk, tree, sos=SOS, eos=EOS, max_length=1, rng=rng)[0].ids[0] for _ in range(4000)]
    share = np.bincount(drawn, minlength=4) / 4000
    np.testing.assert_allclose(share, [0, 0.1, 0.6, 0.3], atol=0.03)  # 4 standard errors


def test_temperature_top_k_and_top_p_cut_as_they_say():
    tree = Tree({(): [0, 0.1, 0.6, 0.3]})

    def tokens(**how):
        rng = np.random.default_rng(1)
        return {sample(walk, tree, sos=SOS, eos=EOS, max_length=1, rng=rng, **how)[0].ids[0] for _ in range(300)}

    assert tokens() == {1, 2, 3}
    assert tokens(top_k=2) == {2, 3}
    assert tokens(top_p=0.6) == {2}
    assert tokens(top_p=0.61) == {2, 3}
    assert tokens(temperature=1e-3) == {2}
    assert kept_tokens([0.25, 0.25, 0.25, 0.25], top_k=2).tolist() == [0, 1]  # ties: the lower id


def test_the_same_generator_draws_the_same_sentence():
    params, cfg = small()
    twice = [
        sample(
            stepper(params, cfg), start(params, cfg, SRC[0]),
            sos=SOS, eos=EOS, max_length=6, rng=np.random.default_rng(5),
        )
        for _ in range(2)
    ]  # fmt: skip
    assert twice[0] == twice[1]


def test_a_state_is_never_changed():
    params, cfg = small()
    step = stepper(params, cfg)
    _, state = step(start(params, cfg, SRC[0]), [SOS])
    first, _ = step(state, [2])
    step(state, [3])
    again, _ = step(state, [2])
    np.testing.assert_array_equal(first, again)
    assert state.ids.shape == (1, 1)


def args(**change):
    return {"sos": SOS, "eos": EOS, "max_length": 3} | change


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: beam_search(walk, GARDEN_PATH, width=0, **args()), ValueError, "width: expected at least 1, got 0"),
        (lambda: beam_search(walk, GARDEN_PATH, width=1, n_best=2, **args()), ValueError, "n_best: .* 1, got 2"),
        (lambda: beam_search(walk, GARDEN_PATH, width=1, length_penalty=-1, **args()), ValueError, "length_penalty"),
        (lambda: greedy(walk, GARDEN_PATH, **args(max_length=0)), ValueError, "max_length: expected at least 1"),
        (lambda: sample(walk, GARDEN_PATH, rng=3, **args()), TypeError, "rng: expected np.random.default_rng"),
        (
            lambda: sample(walk, GARDEN_PATH, rng=np.random.default_rng(0), temperature=0, **args()),
            ValueError, "temperature: expected a positive number, got 0",
        ),
        (
            lambda: sample(walk, GARDEN_PATH, rng=np.random.default_rng(0), top_p=1.5, **args()),
            ValueError, "top_p: expected more than 0 and at most 1, got 1.5",
        ),
        (
            lambda: sample(walk, GARDEN_PATH, rng=np.random.default_rng(0), top_k=0, **args()),
            ValueError, "top_k: expected at least 1, got 0",
        ),
    ],
)  # fmt: skip
def test_bad_input_is_named_with_what_was_expected_and_what_came(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_step_refuses_unknown_tokens_and_a_wrong_number_of_them():
    params, cfg = small()
    state = start(params, cfg, SRC[0])
    with pytest.raises(ValueError, match="ids: expected ids from 0 to 4"):
        stepper(params, cfg)(state, [5])
    with pytest.raises(ValueError, match="ids: expected 1 tokens, one a sentence, got 2"):
        stepper(params, cfg)(state, [1, 1])
    with pytest.raises(ValueError, match="cached: expected False for a decoder without causal mask"):
        start(*small(causal=False), SRC[0])


@pytest.mark.parametrize("write", [greedy, lambda *a, **k: beam_search(*a, width=2, **k)])
def test_an_end_that_is_no_token_is_refused_as_soon_as_the_tokens_are_known(write):
    params, cfg = small()
    state = start(params, cfg, SRC[0])
    with pytest.raises(ValueError, match="eos: expected one of the 5 tokens, or -1 for none, got 99"):
        write(stepper(params, cfg), state, **args(eos=99))
    (never,) = write(stepper(params, cfg), state, **args(eos=-1))
    assert len(never.ids) == 3 and not never.ended
    with pytest.raises(ValueError, match="ids: expected ids from 0 to 4"):
        write(stepper(params, cfg), state, **args(sos=99))


@pytest.mark.parametrize("given", [(np.zeros(5), None), (np.zeros((2, 5)), None), ([["a"]], None)])
def test_a_step_that_gives_something_else_is_named(given):
    with pytest.raises((TypeError, ValueError), match="^step: "):
        greedy(lambda state, ids: given, None, **args())
