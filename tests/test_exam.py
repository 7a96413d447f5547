"""Exams: two comparable sets from one key, right answers, none of them handed out."""

import re
from collections import Counter

import numpy as np
import pytest

from test_worksheet import INDEPENDENT, Page
from toytf import check, model
from toytf.__main__ import main
from toytf.attention import causal_mask
from toytf.course.chapters import chapters
from toytf.ops import softmax
from toytf.teach import exam, markdown, paper
from toytf.teach.exam.pages import answer_page, exam_page
from toytf.teach.exam.papers import BY_HAND, FAULTS, fault
from toytf.teach.worksheet import TOPICS

KEY = "a secret of the teacher"
QUESTIONS = [question for pair in exam.pairs() for question in pair]


@pytest.fixture(scope="module")
def both():
    return exam.papers(KEY)


@pytest.fixture
def no_browser(monkeypatch):
    monkeypatch.setattr(paper, "find_chromium", lambda: None)


def by_hand(one):
    return [task for task in one.tasks if isinstance(task, exam.Numbers)]


def in_words(one):
    return [task for task in one.tasks if isinstance(task, exam.Question)]


# ---------------------------------------------------------------- two sets from one key


def test_both_sets_have_the_same_topics_and_points(both):
    a, b = both
    assert [(task.chapter, type(task), task.points) for task in a.tasks] == [
        (task.chapter, type(task), task.points) for task in b.tasks
    ]
    assert [task.title for task in by_hand(a)] == [task.title for task in by_hand(b)]
    assert a.points == b.points == 90
    assert a.tasks[-1].name == b.tasks[-1].name


def test_the_two_sets_share_no_task(both):
    a, b = both
    assert not {t.exercise.fingerprint for t in by_hand(a)} & {t.exercise.fingerprint for t in by_hand(b)}
    assert not {t.text for t in in_words(a)} & {t.text for t in in_words(b)}
    assert a.tasks[-1].wrong != b.tasks[-1].wrong
    assert a.number != b.number


def test_every_chapter_up_to_13_is_asked_once_and_the_code_comes_last(both):
    for one in both:
        *tasks, last = one.tasks
        assert [task.chapter for task in tasks] == list(range(1, 14))
        assert isinstance(last, exam.Fault) and f"{last.chapter:02}" in chapters()


def test_a_point_is_a_minute_of_the_worksheets():
    for topic, marks in BY_HAND.items():
        assert sum(marks.values()) == TOPICS[topic].minutes


def test_the_same_key_gives_the_same_exams(both):
    again = exam.papers(f"  {KEY}\n")
    for one, other in zip(both, again, strict=True):
        assert exam_page(one) == exam_page(other) and answer_page(one) == answer_page(other)


def test_the_sample_exams_come_out_on_every_machine():
    """Their numbers are hashes of all that is printed: a changed question changes them."""
    assert [one.number for one in exam.papers(exam.SAMPLE_KEY)] == ["189-564-848", "478-917-962"]


def test_another_key_or_title_gives_another_pair(both):
    for changed in (exam.papers("another secret"), exam.papers(KEY, "Winter")):
        for one, other in zip(both, changed, strict=True):
            assert one.number != other.number
            for mine, theirs in zip(by_hand(one), by_hand(other), strict=True):
                assert mine.exercise.fingerprint != theirs.exercise.fingerprint


def test_keys_choose_every_function_and_turn_every_pair():
    many = [exam.papers(f"key {i}")[0] for i in range(60)]
    assert {one.tasks[-1].name for one in many} == set(FAULTS)
    for i in range(len(in_words(many[0]))):
        assert {in_words(one)[i].letter for one in many} == {"a", "b"}


# ---------------------------------------------------------------- right answers


def test_every_answer_by_hand_agrees_with_plain_numpy():
    for i in range(20):
        for one in exam.papers(f"key {i}"):
            for task in by_hand(one):
                right = INDEPENDENT[task.exercise.topic](task.exercise.numbers, task.exercise)
                assert [asked.name for asked, _ in task.answers()] == list(right)
                for asked, points in task.answers():
                    np.testing.assert_array_equal(asked.values, np.round(right[asked.name], asked.decimals))
                    assert points >= 1


@pytest.mark.parametrize(("name", "mistake"), [(name, m) for name, those in FAULTS.items() for m in those])
def test_the_line_that_is_named_is_the_one_that_is_wrong(name, mistake):
    found = fault(name, mistake)
    report = check.CHECKS[name].report(run(found.wrong, name))
    assert report.mistake == mistake
    lines = found.wrong.splitlines()
    old = lines[found.line - 1]
    lines[found.line - 1] = old[: len(old) - len(old.lstrip())] + found.right_line
    assert check.CHECKS[name].report(run("\n".join(lines), name))
    assert "expected" in found.seen or "raised" in found.seen


def run(source, name):
    defined = {"np": np}
    exec(source, defined)
    return defined[name]


def test_a_mistake_in_two_lines_is_refused():
    with pytest.raises(ValueError, match="expected a mistake in one line, got 'summed over the wrong axis' in 2"):
        fault("softmax", "summed over the wrong axis")
    with pytest.raises(ValueError, match="softmax: expected a mistake of 'no maximum subtracted', .* got 'sleepy'"):
        fault("softmax", "sleepy")


def question(chapter, letter):
    (found,) = (q for q in QUESTIONS if (q.chapter, q.letter) == (chapter, letter))
    return found


def test_what_the_questions_say_of_arrays_is_so():
    tokens, columns = np.indices((10, 512))
    x = tokens * 512 + columns  # each number says where it stood
    wrong, right = x.reshape(8, 10, 64), x.reshape(10, 8, 64).swapaxes(0, 1)
    assert wrong.shape == right.shape == (8, 10, 64)
    assert (wrong[0].ravel() == np.arange(640)).all() and 640 == 512 + 128
    assert (right[0] == x[:, :64]).all()
    assert "x @ w_q).reshape(10, 8, 64).swapaxes(0, 1)" in question(6, "a").answer
    heads = np.arange(8 * 10 * 64).reshape(8, 10, 64)
    wrong, right = heads.reshape(10, 512), heads.swapaxes(0, 1).reshape(10, 512)
    assert wrong.shape == right.shape
    assert (wrong[0] == heads[0, :8].ravel()).all()
    assert (right[0] == heads[:, 0].ravel()).all()
    assert "heads.swapaxes(0, 1).reshape(10, 512)" in question(6, "b").answer


def test_what_the_questions_say_of_large_and_small_scores_is_so():
    with np.errstate(all="ignore"):
        large, small = question(8, "a").text, question(8, "b").text
        assert f"{np.exp(5):.1f}" in large and f"{np.exp(620.0):.1e}" == "1.8e+269" and "1.8 · 10²⁶⁹" in large
        assert np.isinf(np.exp(90000.0)) and np.isnan(np.exp(90000.0) / np.exp(90000.0))
        assert np.isfinite(np.exp(709.78)) and np.isinf(np.exp(709.79))
        first, second = np.exp([-2.0, 1.0]), np.exp([-310.0, -290.0])
        assert f"{first.sum():.3f}" in small and f"{first[0] / first.sum():.4f}" in small
        assert f"{second.sum():.1e}" == "1.1e-126" and f"{second[0] / second.sum():.1e}" == "2.1e-09"
        assert "1.1 · 10⁻¹²⁶" in small and "2.1 · 10⁻⁹" in small
        assert np.exp(-745.2) == 0 < np.exp(-745.1) and np.isnan(np.exp(-45000.0) / np.exp([-45000.0, -44000.0]).sum())


RNG = np.random.default_rng(0)
CONFIG = model.Config(30, 30, d_model=8, n_heads=2, d_ff=16, n_encoder_layers=2, n_decoder_layers=2)
MODEL = model.init(CONFIG, RNG)


def test_what_the_questions_say_of_words_in_the_encoder_is_so():
    def encode(rows, mask=None):
        for layer in MODEL.encoder:
            rows, _ = model.encoder_layer(layer, CONFIG, rows, mask)
        return rows

    x = RNG.normal(size=(3, 8))  # 10a has no positions, so the same rows in another order
    np.testing.assert_allclose(encode(x[::-1]), encode(x)[::-1])
    dogs_sleep, _ = model.encode(MODEL, CONFIG, [4, 5])
    dogs_sleep_well, _ = model.encode(MODEL, CONFIG, [4, 5, 6])
    assert (np.abs(dogs_sleep_well[:2] - dogs_sleep) > 1e-3).any(axis=1).all()  # 10b: both rows
    np.testing.assert_allclose(encode(x, causal_mask(3))[:2], encode(x[:2], causal_mask(2)))


def test_what_the_questions_say_of_a_target_or_a_source_that_grows_is_so():
    def weights(src, tgt):
        """Of self-attention and of cross-attention, layer by layer."""
        _, trace = model.forward(MODEL, CONFIG, src, tgt)
        layers = trace.decoder.layers
        both = [(layer.self_attention, layer.cross_attention) for layer in layers]
        return [[part.inner.attention.attn_weights for part in parts] for parts in both]

    source, target = [4, 5, 6, 7, 8, 9, 10], [1, 11, 12, 13]
    before = weights(source, target)
    assert [table.shape[-2:] for table in before[0]] == [(4, 4), (4, 7)]
    for old, new in zip(before, weights(source, [*target, 14]), strict=True):  # 12a
        assert [table.shape[-2:] for table in new] == [(5, 5), (5, 7)]
        np.testing.assert_allclose(new[0][:, :4, :4], old[0])
        np.testing.assert_allclose(new[1][:, :4], old[1])
    first, second = weights([*source, 15], target)  # 12b
    assert [table.shape[-2:] for table in first] == [(4, 4), (4, 8)]
    np.testing.assert_allclose(first[0], before[0][0])
    assert (np.abs(first[1][..., :7] - before[0][1]).max(axis=-1) > 1e-4).all()
    assert np.abs(second[0] - before[1][0]).max() > 1e-4


def test_what_the_questions_say_of_spreads_is_so():
    for letter, width in (("a", 100), ("b", 64)):
        assert f"$d_k = {width}$" in question(5, letter).text
        q, k = RNG.normal(size=(2, 20_000, width))
        spread = (q * k).sum(axis=1).std()
        np.testing.assert_allclose(spread, np.sqrt(width), rtol=0.03)
    even = softmax(RNG.normal(scale=0.1, size=(2000, 5)))
    assert np.abs(even - 0.2).max() < 0.1  # 5a
    sharp = softmax(RNG.normal(scale=8, size=(2000, 5))).max(axis=1)
    assert np.median(sharp) > 0.98  # 5b


# ---------------------------------------------------------------- questions in words


def test_the_questions_are_twelve_in_pairs_with_points_a_minute():
    assert len(QUESTIONS) == 12
    assert {question.points for question in QUESTIONS} == {5}
    for one in QUESTIONS:
        for points, what in one.marks:  # parts in brackets add up
            parts = [int(n) for n in re.findall(r"\((\d)\)", what)]
            assert not parts or sum(parts) == points, what


WHOLE = "## 1a: One\nWhy?\n\n### Answer\nSo.\n\n### Points\n- 2: So.\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", r'expected questions such as "## 1a: Twice as long", got none'),
        ("## One\nWhy?", r'expected a heading such as "## 1a: Twice as long", got "## One"'),
        (WHOLE, "expected two questions of chapter 1, one for each set, got no 1b"),
        (WHOLE + WHOLE, "expected each question once, got 1a twice"),
        (WHOLE + WHOLE.replace("1a", "1b").replace("- 2", "- 3"), "as many points for 1a as for 1b, got 2 and 3"),
        (WHOLE.replace("### Answer", "### Reply"), "1a: expected ### Answer and then ### Points, got Points"),
        (WHOLE.replace("- 2: So.", "two"), r'1a: expected points such as "- 2: .*, got \'two\''),
        (WHOLE.replace("So.\n\n", "\n"), "1a: expected a question, an answer and points, got one of them empty"),
    ],
)
def test_questions_of_another_form_are_refused_with_their_place(text, says, tmp_path):
    file = tmp_path / "mine.md"
    file.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=says):
        exam.pairs(file)


def test_questions_of_ones_own_take_the_place_of_those_of_the_package(tmp_path):
    file = tmp_path / "mine.md"
    file.write_text(WHOLE + WHOLE.replace("1a", "1b"), "utf-8")
    a, _ = exam.papers(KEY, questions=file)
    assert [task.text for task in in_words(a)] == ["Why?"]
    assert a.points == sum(sum(marks.values()) for marks in BY_HAND.values()) + 2 + 8


# ---------------------------------------------------------------- the pages


def test_the_exam_holds_no_answer_and_its_answer_sheet_all_of_them(both):
    for one in both:
        blank, solved = Page(exam_page(one)), Page(answer_page(one))
        said = " ".join(blank.words)
        assert not any(cell.strip() for cell in blank.blanks)
        for task in one.tasks:
            title = f". {task.title}"
            assert title in said and title in " ".join(solved.words)
        cells = [asked.cells() for task in by_hand(one) for asked, _ in task.answers()]
        right = [cell.replace("-", "−") for rows in cells for row in rows for cell in row]
        assert len(blank.blanks) == len(right)
        assert not Counter(right) - Counter(cell.strip() for cell in solved.cells)
        last = one.tasks[-1]
        assert last.mistake not in said and last.right_line not in exam_page(one)
        assert last.mistake in " ".join(solved.words)
        for task in in_words(one):
            answer = markdown.html(task.answer)
            assert answer in answer_page(one) and answer.split("</p>")[0] not in exam_page(one)
            assert not any(markdown.inline(what) in exam_page(one) for _, what in task.marks)


def test_the_pages_need_nothing_else_and_have_a_table_of_points(both):
    for text in (exam_page(both[0]), answer_page(both[0], "letter")):
        page = Page(text)
        assert page.lang == "en" and "exam A" in page.title
        assert not re.search(r"<script|<img|<link|https?://(?!www\.w3\.org)|url\(", text)
        assert page.tags["math"] > 5
    assert "size: A4" in exam_page(both[0]) and "size: letter" in answer_page(both[0], "letter")


# ---------------------------------------------------------------- the command


def test_without_chromium_pages_are_left_and_the_command_says_what_to_install(tmp_path, capsys, no_browser):
    assert main(["exam", "--key", KEY, "--out", str(tmp_path / "new" / "exams")]) == 1
    names = ["exam-A.answers.html", "exam-A.html", "exam-B.answers.html", "exam-B.html"]
    assert sorted(path.name for path in (tmp_path / "new" / "exams").iterdir()) == names
    said = capsys.readouterr().out
    assert "expected Chromium or Chrome to print with, got none" in said and "sudo apt install chromium" in said
    assert "2 exams of 14 tasks, 90 points, about 90 minutes each" in said


def test_pages_alone_are_no_failure_and_files_that_are_there_stay(tmp_path, capsys):
    words = ["exam", "--key", KEY, "--html", "--out", str(tmp_path)]
    assert main(words) == 0
    before = (tmp_path / "exam-A.html").read_text("utf-8")
    assert main([*words, "--title", "Other"]) == 2
    assert "exam-A.html: expected a new file, got one that is there; --force replaces it" in capsys.readouterr().err
    assert (tmp_path / "exam-A.html").read_text("utf-8") == before
    assert main([*words, "--title", "Other", "--force"]) == 0
    assert (tmp_path / "exam-A.html").read_text("utf-8") != before


def test_without_a_key_it_says_that_anybody_can_make_these_exams(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("TOYTF_KEY", raising=False)
    assert main(["exam", "--html", "--out", str(tmp_path)]) == 0
    assert "these are the sample exams. Anybody can make them" in capsys.readouterr().out
    monkeypatch.setenv("TOYTF_KEY", KEY)
    assert main(["exam", "--html", "--out", str(tmp_path), "--force"]) == 0
    assert "sample" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--out", "a-file"], "--out: expected a folder, got the file"),
        (["--out", "x", "--questions", "none.md"], "No such file"),
        (["--out", "x", "--title", " "], "title: expected at least one character, got none"),
        (["--out", "x", "--paper", "a5"], "invalid choice: 'a5'"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_is_written(words, says, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-file").touch()
    try:
        assert main(["exam", "--html", "--key", KEY, *words]) == 2
    except SystemExit as end:
        assert end.code == 2
    assert says in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["a-file"]


def test_a_browser_that_fails_is_named_and_leaves_no_file(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(paper, "find_chromium", lambda: "false")
    assert main(["exam", "--key", KEY, "--out", str(tmp_path)]) == 2
    assert "exam-A.pdf: expected false to print it, got exit status 1: nothing" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
