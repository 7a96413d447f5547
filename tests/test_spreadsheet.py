"""The spreadsheet: every number a formula, and what another program computes of them is what `toytf` gives."""

import io
import re
import sys
import zipfile

import numpy as np
import openpyxl
import pytest

from sheetcheck import CELLS_CHANGED, Formulas, Inputs, by_toytf, changed, problems, stored
from toytf.__main__ import main
from toytf.attention import multi_head_attention
from toytf.course import journey
from toytf.course.spreadsheet import hello_world
from toytf.course.spreadsheet.cells import KINDS, Book
from toytf.example import PUBLISHED
from toytf.ops import LayerNorm, layer_norm, softmax

FUNCTIONS = set("AVERAGE COLUMNS COS COUNT EXACT EXP IF INDEX INT ISNUMBER MATCH MAX SIN SQRT SUM SUMSQ".split())
NUMBERS = {"0", "1", "2", "10000"}  # that a formula of the book has in it


@pytest.fixture(scope="module")
def book():
    return hello_world()


@pytest.fixture(scope="module")
def file(book):
    return book.file()


@pytest.fixture(scope="module")
def model(file, tmp_path_factory):
    return Formulas(file, tmp_path_factory.mktemp("sheets"))


def cells(file):
    for sheet in openpyxl.load_workbook(io.BytesIO(file)):
        for row in sheet:
            yield from (cell for cell in row if cell.value not in (None, ""))


# ---------------------------------------------------------------- what it computes


def test_the_file_shows_what_toytf_gives_before_anybody_computes(book, file):
    assert problems(book, stored(file), by_toytf(Inputs())) == []


def test_computed_again_each_cell_is_what_toytf_gives(book, model):
    assert problems(book, model.compute(book, {}), by_toytf(Inputs())) == []


def test_everything_follows_when_inputs_are_changed(book, model):
    read = model.compute(book, CELLS_CHANGED)
    right = by_toytf(changed())
    assert problems(book, read, right) == []
    first, last = book["3 Head 1"].blocks["K₁"], book["22 Probabilities"].blocks["p"]
    assert first.rows[0].home == "'1 Embedding'!B7" and read("3 Head 1", first.row_label(0).replace("$", "")) == "World"
    assert np.abs(last.result - right["22 Probabilities", "p"]).min() > 1e-4  # none stayed as it was


def test_its_probabilities_are_those_of_the_machine(book):
    """Which starts with one word of the target; later words do not reach its row."""
    p = book["22 Probabilities"].blocks["p"].result
    assert np.allclose(p[0], softmax(journey.logits)[0], rtol=0, atol=1e-12)


def test_published_positions_and_divisor_show_what_the_chapters_print(book):
    """As the first sheet says of the sheets 3 to 6."""
    it = Inputs(positions="published", divisor=30.0)
    right = by_toytf(it)
    z, trace = multi_head_attention(PUBLISHED.heads, PUBLISHED.x, n_heads=2, scale=1 / 30)
    u, _ = layer_norm(LayerNorm(np.ones(4), np.zeros(4)), PUBLISHED.x + z)
    for sheet, name, array in (
        ("2 Positions", "X", PUBLISHED.x),
        ("3 Head 1", "A₁", trace.attention.attn_weights[0]),
        ("5 Both heads", "Z", z),
        ("6 Add and norm", "U", u),
    ):
        assert np.allclose(right[sheet, name], array, rtol=0, atol=1e-12), name


def test_what_the_first_sheet_asks_has_its_answer():
    p = by_toytf(Inputs())["22 Probabilities", "p"]
    leak = Inputs(mask=np.ones((3, 3), dtype=bool))
    moved = np.abs(by_toytf(leak)["22 Probabilities", "p"] - p).max(axis=1)
    assert moved[0] > 1e-3 and moved[1] > 1e-3 and moved[2] == 0

    def without_gamma(number):
        it = Inputs()
        it.params.encoder[0].norm_1.gamma = np.zeros(4)
        it.params.src_embedding = np.array([[number, 2, 3, 4], [2.0, 3, 4, 5]])
        return by_toytf(it)["22 Probabilities", "p"]

    assert np.array_equal(without_gamma(1.0), without_gamma(7.0))


# ---------------------------------------------------------------- planted mistakes


def planted(book, sheet, name, right, wrong):
    """The first sheets alone, with another formula in one cell."""
    few = Book(book.pages[1 : 1 + int(sheet.split()[0])])
    block = few[sheet].blocks[name]
    cell = few[sheet].cells[block.top, block.left]
    assert right in cell.content
    return few, block, cell, cell.content.replace(right, wrong)


@pytest.mark.parametrize(
    "sheet, name, right, wrong",
    [
        ("1 Embedding", "E", "$C12*", "$B12*"),  # the other word
        ("2 Positions", "PE", ",D20)", ",D21)"),  # the row below
        ("3 Head 1", "Q₁", "+$E14*G$10", ""),  # a term is missing
        ("3 Head 1", "A₁", "E24/", "F24/"),  # another power
    ],
)  # fmt: skip
def test_a_wrong_formula_is_caught_in_its_cell(book, tmp_path, monkeypatch, sheet, name, right, wrong):
    few, block, cell, formula = planted(book, sheet, name, right, wrong)
    monkeypatch.setattr(cell, "content", formula)
    read = Formulas(few.file(), tmp_path).compute(few, {})
    found = problems(few, read, by_toytf(Inputs()))
    assert found and found[0].startswith(f"{sheet}, {name}, {block[0, 0]}: ")


def test_a_block_that_nobody_compares_is_caught(book, file):
    right = by_toytf(Inputs())
    del right["7 Feed-forward", "hidden"]
    assert problems(book, stored(file), right) == ["7 Feed-forward: hidden is not compared"]


# ---------------------------------------------------------------- every number is a formula


def typed_numbers(cells):
    """Numbers that stand where nobody may change them or in a formula that is none of the book's; odd functions."""
    found = []
    for cell in cells:
        kind = cell.style.rpartition(" ")[0]
        if isinstance(cell.value, (int, float)) and kind not in ("given", "label"):
            found.append(f"{cell.parent.title}, {cell.coordinate}: the number {cell.value}")
        elif str(cell.value).startswith("="):
            formula = re.sub(r"'[^']*'!|\"[^\"]*\"", "", cell.value)
            typed = set(re.findall(r"(?<![A-Z$\d.])\d[\d.E]*", formula)) - NUMBERS
            odd = set(re.findall(r"[A-Z.]+(?=\()", formula)) - FUNCTIONS
            found += [f"{cell.parent.title}, {cell.coordinate}: {one}" for one in typed | odd]
        elif kind in ("computed", "taken", "handed on"):
            found.append(f"{cell.parent.title}, {cell.coordinate}: no formula")
    return found


def test_every_computed_cell_is_a_formula_of_plain_functions(file):
    there = list(cells(file))
    kinds = [cell.style.rpartition(" ")[0] for cell in there]
    assert set(kinds) == set(KINDS) and kinds.count("computed") > 700
    assert typed_numbers(there) == []
    formulas = [cell.value for cell in there if str(cell.value).startswith("=")]
    assert len(formulas) > 1500 and not [one for one in formulas if "{" in one or len(one) > 300]


@pytest.mark.parametrize(
    "content", [0.5, "0.5", "=D14*0.5", "=D14+12", "=RAND()", "=MMULT(B14,C14)", "=SUMPRODUCT(B14,C14)"]
)
def test_a_typed_number_or_an_odd_function_is_caught(book, monkeypatch, content):
    block = book["3 Head 1"].blocks["Q₁"]
    monkeypatch.setattr(book["3 Head 1"].cells[block.top, block.left], "content", content)
    assert len(typed_numbers(cells(Book([book["3 Head 1"]]).file()))) == 1


def test_a_formula_reads_its_own_sheet_and_what_is_taken_is_read_as_it_is(book):
    for page in book.pages:
        for cell in page.cells.values():
            if cell.kind in ("computed", "handed on"):
                assert "!" not in cell.content, (page.name, cell.content)
            elif cell.kind == "taken" and cell.shows != "":  # but for the sample of the colour
                assert re.fullmatch(r"='[^']+'![A-Z]+\d+", cell.content)


def test_every_sheet_reads_sheets_before_it_and_only_the_first_one_those_behind(book):
    names = [page.name for page in book.pages]
    for place, page in enumerate(book.pages[1:], 1):
        read = {found for cell in page.cells.values() for found in re.findall(r"'([^']+)'!", str(cell.content))}
        assert all(names.index(name) <= place for name in read), page.name
        assert place == 1 or read, page.name


# ---------------------------------------------------------------- how it looks


def test_the_chapters_from_2_to_13_have_a_sheet_each(book):
    named = {int(number) for page in book.pages for number in re.findall(r"\d+", page.more)}
    assert named == set(range(2, 14))


def test_every_sheet_is_listed_on_the_first_and_every_link_leads_to_a_sheet(book):
    names = [page.name for page in book.pages]
    assert [name for name in names[1:] if name not in book.pages[0].links.values()] == []
    assert {target for page in book.pages for target in page.links.values()} <= set(names)
    assert all(len(name) <= 31 for name in names)  # Excel's limit


def test_words_and_positions_are_chosen_from_lists(file):
    workbook = openpyxl.load_workbook(io.BytesIO(file))
    lists = {sheet.title: one.formula1 for sheet in workbook for one in sheet.data_validations.dataValidation}
    assert lists.pop("2 Positions") == '"paper,published,none"'
    for (sheet, listed), words in zip(lists.items(), (journey.source, journey.words), strict=True):
        assert [row[0].value for row in workbook[sheet][listed.replace("$", "")]] == list(words)


def test_no_title_runs_into_the_next(book):
    for page in book.pages:
        for (row, col), cell in page.cells.items():
            after = [c for r, c in page.cells if r == row and c > col]
            if cell.kind in ("name", "link") and after:
                assert len(cell.shows) <= 9.3 * (min(after) - col), (page.name, cell.shows)


def test_the_same_pages_give_the_same_bytes_without_a_date(file):
    assert hello_world().file() == file
    with zipfile.ZipFile(io.BytesIO(file)) as parts:
        assert {part.date_time for part in parts.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        text = b"".join(map(parts.read, parts.namelist())).decode()
    assert not re.search(r"<dcterms|\b20\d\d-\d\d", text)


# ---------------------------------------------------------------- blocks


def test_a_block_names_its_cells_and_no_others():
    page = Book().page("Page", "Title")
    block = page.given("A", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], rows=["one", "two"])
    assert (block[1, 2], block.along(1, 2), block.down(1, 2), block.fixed(1, 2)) == ("D8", "$D8", "D$8", "$D$8")
    assert (block.T[2, 1], block.T.down(2, 1), block.T.name) == ("D8", "$D$8", "Aᵀ")
    assert (block.row(1), block.row_label(1), block.col_label(2)) == ("$B8:$D8", "$A$8", "D$6")
    for i, j in ((2, 0), (0, 3), (-1, 0)):
        with pytest.raises(IndexError, match=r"A: expected a cell of 2 × 3, got \("):
            block[i, j]
    with pytest.raises(ValueError, match="B: expected 1 and 2 labels, got 1 and 3"):
        page.given("B", [[1.0, 2.0]], cols="abc")


# ---------------------------------------------------------------- the command


def test_the_command_writes_the_file_and_says_so(tmp_path, capsys, file):
    out = tmp_path / "hello.xlsx"
    assert main(["spreadsheet", "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"23 sheets: {out}\n"
    assert out.read_bytes() == file


def test_without_openpyxl_the_command_says_what_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    out = tmp_path / "hello.xlsx"
    assert main(["spreadsheet", "--out", str(out)]) == 2
    said = 'error: spreadsheet: expected openpyxl to be installed, got none; pip install "toytf[spreadsheet]"\n'
    assert capsys.readouterr().err == said and not out.exists()


def test_a_file_in_a_folder_that_is_not_there_is_refused_before_the_work(tmp_path, capsys):
    assert main(["spreadsheet", "--out", str(tmp_path / "no" / "hello.xlsx")]) == 2
    assert capsys.readouterr().err.startswith("error: --out: expected a file in an existing folder, got ")
