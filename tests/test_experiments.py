"""The stored experiments are those of the table, and come out again; what `toytf.course.experiments` promises."""

import json
import signal
from dataclasses import asdict, replace

import numpy as np
import pytest

from toytf.__main__ import main
from toytf.course import experiments
from toytf.course.experiments import (
    ENCODER,
    EXPERIMENTS,
    HELD_OUT,
    STORED,
    TESTED,
    Data,
    Experiment,
    Result,
    combinations,
    learn,
    load,
    run,
    run_all,
    sentences,
    silence,
    unseen_combinations,
)
from toytf.tree import named_arrays

# ---------------------------------------------------------------- the stored results


def problems(content, table=EXPERIMENTS):
    """What the content of a results file lacks, or has too much."""
    found = []
    for name in sorted(set(content) ^ set(table)):
        found.append(f"{name}: {'not in the file' if name in table else 'not in the table'}")
    for name in sorted(set(content) & set(table)):
        kept, experiment = content[name], table[name]
        if kept["settings"] != experiment.settings():
            found.append(f"{name}: other settings")
        if set(kept["runs"]) != {str(seed) for seed in range(experiment.seeds)}:
            found.append(f"{name}: seeds {sorted(kept['runs'])}")
        for seed, result in kept["runs"].items():
            counts = result["right"].values()
            if not counts or not all(isinstance(n, int) and 0 <= n <= TESTED for n in counts):
                found.append(f"{name}, seed {seed}: impossible counts")
    return found


def differences(again, stored):
    """How a run differs from what is stored of it: counts exactly, losses to 4 decimals."""
    found = [
        f"{t}: {n} right, stored {stored.right.get(t)}" for t, n in again.right.items() if n != stored.right.get(t)
    ]
    if (again.stopped, again.loss is None) != (stored.stopped, stored.loss is None):
        found.append(f"stopped {again.stopped}, stored {stored.stopped}")
    elif again.loss is not None and abs(again.loss - stored.loss) > 5e-5:
        found.append(f"loss {again.loss}, stored {stored.loss}")
    return found


@pytest.fixture(scope="module")
def content():
    return json.loads(STORED.read_text(encoding="utf-8"))["experiments"]


def test_every_experiment_is_stored_with_all_its_seeds_and_nothing_else(content):
    assert not problems(content)


def test_a_missing_run_a_changed_setting_and_an_impossible_count_are_found(content):
    name, other = "nothing, 1+1", "positions, 1+1"
    table = {name: EXPERIMENTS[name], other: EXPERIMENTS[other]}
    planted = json.loads(json.dumps({key: content[key] for key in table}))
    assert not problems(planted, table)
    del planted[name]["runs"]["3"]
    planted[other]["settings"]["switches"]["d_model"] = 32
    planted[other]["runs"]["0"]["right"][HELD_OUT] = TESTED + 1
    planted["an old one"] = planted[name]
    assert problems(planted, table) == [
        "an old one: not in the table",
        "nothing, 1+1: seeds ['0', '1', '2', '4']",
        "positions, 1+1: other settings",
        "positions, 1+1, seed 0: impossible counts",
    ]


# These runs settle down: the first at a loss of almost 0, the others at a bound that the task sets. They come out
# the same to 6 decimals with one BLAS thread and two, and with other kernels (OPENBLAS_CORETYPE=Haswell,
# NPY_DISABLE_CPU_FEATURES=AVX512F). Runs that do not settle, as without residual or without scaling at width 64,
# come out the same with one thread and two; other kernels round differently, and 500 steps turn that into other counts.
@pytest.mark.own_seed
@pytest.mark.parametrize("name", ["nothing, 1+1", "positions, 1+1", "cross-attention, 1+1"])
def test_a_run_comes_out_as_stored(name):
    again, stored = run(EXPERIMENTS[name], 0), load()[name][0]
    assert not differences(again, stored)
    counts = {test: n - 1 for test, n in stored.right.items()}
    assert differences(again, replace(stored, right=counts))  # a planted fault
    assert differences(again, replace(stored, loss=stored.loss + 0.0001))


def test_a_run_that_broke_off_differs_from_one_that_did_not():
    fine, broken = Result(0.5, {HELD_OUT: 0}), Result(None, {HELD_OUT: 0}, 7)
    assert differences(broken, fine) and differences(fine, broken) and differences(broken, replace(broken, stopped=8))
    assert not differences(broken, broken)


# ---------------------------------------------------------------- what is learned from


@pytest.mark.parametrize("data", sorted({e.data for e in EXPERIMENTS.values()}, key=repr), ids=repr)
def test_nothing_that_is_tested_was_learned(data):
    train, tests = sentences(data, np.random.default_rng(0))
    assert len(train) == data.learn_from
    for pairs in tests.values():
        assert len(pairs) == TESTED
        for side in ("tgt",) if data.alphabetical else ("src", "tgt"):  # two sentences may have the same words
            assert not {getattr(pair, side) for pair in train} & {getattr(pair, side) for pair in pairs}


def test_unseen_combinations_are_in_every_test_sentence_and_in_none_that_is_learned_from():
    train, tests = sentences(Data(unseen=0.5), np.random.default_rng(3))
    away = unseen_combinations(0.5, np.random.default_rng(3))
    assert not any(combinations(pair) & away for pair in train)
    assert all(combinations(pair) & away for pair in tests[HELD_OUT])
    seen = set().union(*(pair.tgt for pair in train))
    assert set().union(*(pair.tgt for pair in tests[HELD_OUT])) <= seen  # every form was there


def most_adjectives(pair):
    """How many adjectives the noun with the most of them has."""
    nouns = [noun for _, noun in combinations(pair)]
    return max(map(nouns.count, nouns), default=0)


def test_tests_have_the_adjectives_and_the_lengths_that_their_names_say():
    train, tests = sentences(Data(more=(2, 3)), np.random.default_rng(1))
    assert {most_adjectives(pair) for pair in train} == {0, 1}
    assert list(tests) == [HELD_OUT, "2 adjectives", "2 adjectives, no longer", "3 adjectives"]
    assert {most_adjectives(pair) for pair in tests["2 adjectives"]} == {2}
    assert {len(pair.src) for pair in tests["2 adjectives"]} == {9}
    assert {most_adjectives(pair) for pair in tests["2 adjectives, no longer"]} == {2}
    assert {len(pair.src) for pair in tests["2 adjectives, no longer"]} == {7} == {max(len(p.src) for p in train)}
    train, tests = sentences(Data((0, 1, 2), longest=7), np.random.default_rng(1))
    assert max(len(pair.src) for pair in train) == 7
    assert [name for name in tests if name != HELD_OUT] == ["8 words", "9 words"]
    train, _ = sentences(Data(with_two=30), np.random.default_rng(1))
    assert sum(most_adjectives(pair) == 2 for pair in train) == 30


def test_too_few_sentences_are_refused():
    with pytest.raises(ValueError, match="data: expected enough sentences, got 3200 to learn from"):
        sentences(Data(learn_from=4000), np.random.default_rng(0))


# ---------------------------------------------------------------- silence


def test_silent_parts_stay_silent_while_the_others_learn():
    experiment = Experiment("quiet", "", silent=ENCODER, learning={"steps": 3, "warmup": 0})
    translator, _, _, records = learn(experiment, 0)
    before = {name: array.copy() for name, array in named_arrays(translator.params).items()}
    assert [record.step for record in records] == [1, 2, 3]
    silent = ("w_o", "w_2", "b_2")
    for name, array in named_arrays(translator.params).items():
        if name.startswith("encoder.") and name.endswith(silent):
            assert not array.any()
        elif name.startswith(("decoder.", "src_embedding", "output")):
            assert not np.array_equal(array, before[name]), name


def test_a_pattern_that_matches_nothing_is_refused():
    translator, *_ = learn(Experiment("plain", ""), 0)
    with pytest.raises(ValueError, match=r"expected names such as 'src_embedding', got 'encoder.\*.w_9'"):
        silence(translator.params, ("encoder.*.w_9",))


# ---------------------------------------------------------------- the file

SHORT = Experiment("short", "a few steps", learning={"steps": 3, "warmup": 0}, seeds=2)


def test_a_file_is_continued_and_the_same_bytes_come_out(tmp_path):
    lines, straight, resumed = [], tmp_path / "straight.json", tmp_path / "resumed.json"
    run_all(straight, [SHORT], report=lines.append)
    assert lines[0] == "2 runs to do" and len(lines) == 3
    run_all(resumed, [SHORT], seeds=1, report=lines.append)
    half = resumed.read_bytes()
    lines.clear()
    run_all(resumed, [SHORT], report=lines.append)
    assert lines[0] == "1 run to do" and "seed 1" in lines[1]
    assert resumed.read_bytes() == straight.read_bytes() != half
    run_all(resumed, [SHORT], report=lines.append)
    assert lines[-1] == "0 runs to do"
    assert [asdict(result) for result in load(resumed)["short"]] == [asdict(run(SHORT, seed)) for seed in (0, 1)]
    assert {path.name for path in tmp_path.iterdir()} == {"straight.json", "resumed.json"}  # no half-written file


def test_results_under_other_settings_are_made_anew(tmp_path):
    path, lines = tmp_path / "r.json", []
    run_all(path, [SHORT], seeds=1, report=lines.append)
    run_all(path, [replace(SHORT, learning={"steps": 2, "warmup": 0})], seeds=1, report=lines.append)
    assert lines[2] == "1 run to do"


def test_numbers_that_are_no_longer_finite_are_a_result():
    broken = Experiment("broken", "", {"norm": "none"}, learning={"steps": 9, "warmup": 0, "learning_rate": 1e300})
    result = run(broken, 0)
    assert result.loss is None and result.right == {HELD_OUT: 0} and 1 < result.stopped < 9


def test_another_error_is_no_result(monkeypatch):
    def wrong(*_, **__):
        raise ValueError("rows: expected 3, got 4")

    monkeypatch.setattr(experiments, "loss_and_gradients", wrong)
    with pytest.raises(ValueError, match="expected 3, got 4"):
        run(SHORT, 0)


def test_ctrl_c_does_not_store_half_a_run(monkeypatch, tmp_path, capsys, keyboard):
    plain = experiments.loss_and_gradients

    def interrupted(params, batch, **how):
        signal.raise_signal(signal.SIGINT)
        return plain(params, batch, **how)

    monkeypatch.setattr(experiments, "loss_and_gradients", interrupted)
    monkeypatch.setitem(EXPERIMENTS, "short", SHORT)
    path = tmp_path / "r.json"
    assert main(["experiments", "--out", str(path), "--only", "short"]) == 130
    assert "the same command goes on from here" in capsys.readouterr().err
    assert not path.exists()


# ---------------------------------------------------------------- the command


def test_the_command_runs_what_it_is_asked_for(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(EXPERIMENTS, "short", SHORT)
    path = tmp_path / "r.json"
    assert main(["experiments", "--out", str(path), "--only", "short", "--seeds", "1"]) == 0
    assert capsys.readouterr().out.startswith("1 run to do\nshort, seed 0: loss ")
    assert main(["experiments", "--list"]) == 0
    assert "nothing, 1+1: nothing is removed; 5 seeds" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--out: expected the file for the results, got none"),
        (["--out", "no/such/folder/r.json"], "--out: expected a file in an existing folder, got no/such/folder/r.json"),
        (["--out", "r.json", "--only", "nothing"], "--only: expected a name that --list shows, got 'nothing'"),
        (["--out", "r.json", "--seeds", "0"], "--seeds: expected at least 1, got 0"),
    ],
)
def test_wrong_arguments_are_named(arguments, message, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["experiments", *arguments]) == 2
    assert capsys.readouterr().err == f"error: {message}\n"


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"format": "toytf experiments", "version": 2, "experiments": {}}', '{"format": 1, "version": 1}',
     '{"format": "toytf experiments", "version": 1, "experiments": {"a": {"settings": {}, "runs": {"0": {"x": 1}}}}}'],
)  # fmt: skip
def test_a_file_that_is_not_ours_is_neither_read_nor_overwritten(text, tmp_path, capsys):
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"r\.json: expected a file of toytf experiments, got another"):
        load(path)
    assert main(["experiments", "--out", str(path)]) == 2
    assert path.read_text() == text
