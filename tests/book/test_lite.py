"""The notebooks that run in a browser, as far as no browser is needed; with_products/test_whole_book.py opens them."""

import json
from pathlib import Path

import pytest

import lite
from pages import FormError

ROOT = Path(__file__).resolve().parent.parent.parent


def test_every_chapter_is_there_with_a_first_cell_for_the_browser(tmp_path):
    titles = lite.notebooks(tmp_path)
    assert list(titles)[:-2] == sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
    assert list(titles)[-2:] == ["follow.ipynb", "machine.ipynb"]
    assert titles["02_words_become_vectors.ipynb"] == "2. Words become vectors"
    for name in titles:
        made = json.loads((tmp_path / name).read_text("utf-8"))
        assert '%pip install -q "toytf[' in made["cells"][0]["source"]
        assert made["metadata"]["kernelspec"]["name"] == "python"
        # lists of lines break JupyterLite's list of headings
        assert all(isinstance(cell["source"], str) for cell in made["cells"])
    chapter = (tmp_path / "02_words_become_vectors.ipynb").read_text("utf-8")
    lite.notebooks(tmp_path, solutions=False)
    without = (tmp_path / "02_words_become_vectors.ipynb").read_text("utf-8")
    assert "Solution of 2.1" in chapter and "olution" not in without


def test_the_first_page_links_every_notebook_and_keeps_the_settings():
    config = '<script id="jupyter-config-data" type="application/json">\n{}\n</script>'
    page = lite.landing({"05_a.ipynb": "5. A & B"}, f"<html>{config}</html>")
    assert '<a href="lab/index.html?path=05_a.ipynb">5. A &amp; B</a>' in page and config in page


def test_without_jupyterlite_the_command_says_what_to_do_and_the_old_site_stays(tmp_path):
    (tmp_path / "lite").mkdir()
    with pytest.raises(FormError, match="FORMS=lite installs it"):
        lite.make(None, tmp_path, tmp_path / "nowhere")
    with pytest.raises(FormError, match="failed:\n"):
        lite.run(["false", "-x"], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["lite"]
