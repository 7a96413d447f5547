"""The spreadsheet in LibreOffice: opened, computed again with other inputs, printed."""

import io

import pytest
from pypdf import PdfReader

import sheetcheck
from sheetcheck import CELLS_CHANGED, Inputs, by_toytf, changed, problems, stored, typed
from toytf.course.spreadsheet import hello_world

pytestmark = pytest.mark.skipif(sheetcheck.soffice() is None, reason="LibreOffice (soffice) is not installed")


@pytest.fixture(scope="module")
def book():
    return hello_world()


def opened(file, folder):
    return stored(sheetcheck.by_libreoffice(file, folder))


def test_libreoffice_computes_what_toytf_computes(book, tmp_path):
    read = opened(typed(book.file(), book, {}), tmp_path)
    assert problems(book, read, by_toytf(Inputs())) == []


def test_everything_follows_when_inputs_are_changed(book, tmp_path):
    read = opened(typed(book.file(), book, CELLS_CHANGED), tmp_path)
    assert problems(book, read, by_toytf(changed())) == []


def test_a_wrong_reference_is_caught(book, tmp_path, monkeypatch):
    block = book["7 Feed-forward"].blocks["before"]
    cell = book["7 Feed-forward"].cells[block.top + 1, block.left + 3]
    monkeypatch.setattr(cell, "content", cell.content.replace("$C", "$B", 1))
    read = opened(typed(book.file(), book, {}), tmp_path)
    found = problems(book, read, by_toytf(Inputs()))
    assert found[0].startswith(f"7 Feed-forward, before, {block[1, 3]}: ")


def test_no_cell_is_an_error_or_too_wide_and_each_sheet_is_one_page(book, tmp_path):
    pages = PdfReader(io.BytesIO(sheetcheck.by_libreoffice(book.file(), tmp_path, "pdf"))).pages
    texts = [page.extract_text() for page in pages]
    assert len(texts) == len(book.pages)
    for page, text in zip(book.pages, texts, strict=True):
        assert page.title in text and "###" not in text and "#N" not in text and "Err:" not in text, page.name
