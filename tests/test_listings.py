"""The stored PyTorch results, and that nothing needs torch until it is asked for."""

import ast
import json
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from bookcheck import reading
from toytf.attention import MultiHead
from toytf.course import listings, pytorch
from toytf.model import Config, init

PACKAGE = Path(listings.__file__).parent
TEXT = resources.files("toytf.course").joinpath("data", listings.DATA).read_text(encoding="utf-8")

# ---------------------------------------------------------------------------------------
# What is stored


def test_every_listing_has_its_results_and_every_result_its_listing():
    assert listings.names()
    assert sorted(json.loads(TEXT)["listings"]) == listings.names()
    assert all(listings.stored(name) for name in listings.names())


def test_the_stored_results_name_their_versions_and_nothing_else():
    found = json.loads(TEXT)
    assert found.keys() == {"listings", "numpy", "torch"}
    for name in ("numpy", "torch"):
        assert re.fullmatch(r"\d+\.\d+\.\d+", found[name]), name
    stored = listings.stored("masks")
    assert (stored.torch, stored.numpy) == (found["torch"], found["numpy"])


def test_every_stored_result_is_used_by_a_page_or_a_published_number():
    used = "".join(
        cell.source for path in reading.notebook_paths() for _, cell in reading.code_cells(reading.read_notebook(path))
    )
    used += "".join(path.read_text(encoding="utf-8") for path in Path(listings.__file__).parent.parent.rglob("*.py"))
    assert [name for name in listings.names() if f'listings.stored("{name}")' not in used] == []


def test_what_is_stored_comes_back():
    results = {
        "array": np.array([[1 / 3, -0.0], [np.nan, -np.inf]]),
        "number": np.array(2.5),
        "none": np.zeros((0, 3)),
        "text": "ñ «2»",
        "shape": (64, 12, 300),
        "names": ("a", "b"),
        "said": True,
        "counted": 7,
    }
    text = listings.dumps({"one": results}, torch="2.13.0+cpu", numpy="2.4.6")
    assert text == listings.dumps({"one": dict(reversed(results.items()))}, torch="2.13.0", numpy="2.4.6")
    back = listings.stored("one", text)
    assert back.keys() == results.keys() and (back.torch, back.numpy) == ("2.13.0", "2.4.6")
    for name, value in results.items():
        if isinstance(value, np.ndarray):
            assert back[name].shape == value.shape and back[name].dtype == np.float64
            np.testing.assert_allclose(back[name], value, rtol=0, atol=1e-12)
        else:
            assert back[name] == value and type(back[name]) is type(value), name
    assert "-0.0" not in text and json.loads(text, parse_constant=pytest.fail)  # JSON that anybody reads


@pytest.mark.parametrize("value", [1.5, np.zeros(2, np.float32), None, {"a": 1}, (1.5,)])
def test_what_cannot_be_stored_is_refused(value):
    with pytest.raises(TypeError, match="expected "):
        listings.dumps({"one": {"a": value}}, "1", "1")


# ---------------------------------------------------------------------------------------
# The text of a listing


@pytest.mark.parametrize("name", listings.names())
def test_a_listing_is_a_module_that_can_be_shown(name):
    text = str(listings.code(name))
    tree = ast.parse(text)
    assert ast.get_docstring(tree)
    assert any(isinstance(node, ast.FunctionDef) and node.name == "results" for node in tree.body)
    assert max(map(len, text.splitlines())) <= 88  # as wide as a code cell on the page


def test_code_shows_parts_in_every_form():
    shown = listings.code("layers", "EncoderLayer", "AddAndNorm")
    assert str(shown).startswith("class EncoderLayer(nn.Module):")
    assert "\n\n\nclass AddAndNorm" in str(shown) and "def results" not in str(shown)
    assert repr(shown) == str(shown)
    assert shown._repr_markdown_() == f"```python\n{shown}\n```"
    method = str(listings.code("layers", "EncoderLayer.forward"))
    assert method.startswith("def forward(self, ") and method.splitlines()[1].startswith("    ")
    assert ast.parse(method).body and "class" not in method


def test_unknown_names_are_refused_with_a_hint():
    for ask in (listings.code, listings.stored, listings.run):
        with pytest.raises(KeyError, match="unknown listing 'mask': did you mean masks"):
            ask("mask")
        with pytest.raises(KeyError, match="there are attention_class, "):
            ask("0")
    with pytest.raises(KeyError, match="unknown part of masks 'nothing': did you mean nothing_left"):
        listings.code("masks", "nothing")


# ---------------------------------------------------------------------------------------
# Without torch


def calls_that_need_torch():
    cfg = Config(3, 3, d_model=4, n_heads=2, d_ff=4, n_encoder_layers=1, n_decoder_layers=1)
    params = init(cfg, np.random.default_rng(0))
    layer = params.encoder[0]
    return {
        "attn_mask": lambda: pytorch.attn_mask(np.ones((2, 2), bool)),
        "key_padding_mask": lambda: pytorch.key_padding_mask(np.ones((2, 2), bool)),
        "multi_head_attention": lambda: pytorch.multi_head_attention(layer.self_attention, 2),
        "encoder_layer": lambda: pytorch.encoder_layer(layer, cfg),
        "decoder_layer": lambda: pytorch.decoder_layer(params.decoder[0], cfg),
        "transformer": lambda: pytorch.transformer(params, cfg),
        "model": lambda: pytorch.model(params, cfg),
        "embedding": lambda: pytorch.embedding(params.src_embedding),
        "linear": lambda: pytorch.linear(params.output),
        "run": lambda: listings.run("masks"),
    }


@pytest.mark.parametrize("name", calls_that_need_torch())
def test_a_call_without_torch_says_what_to_install(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # import torch fails
    with pytest.raises(ImportError, match=re.escape('this needs torch: pip install "toytf[torch]"')):
        calls_that_need_torch()[name]()


def test_importing_imports_no_torch():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import toytf, toytf.course.pytorch, toytf.course.published\n"
        "from toytf.course import listings\n"
        "for name in listings.names(): listings.stored(name), listings.code(name)\n"
        "assert not any(name.startswith('toytf.course.listings.') for name in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=reading.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def imports_torch(source):
    """Whether Python code imports torch, or runs a listing, which does."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "torch" for alias in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "torch":
            return True
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "listings.run":
            return True
    return False


def test_the_check_for_imports_sees_every_form():
    for source in ("import torch", "import torch.nn as nn", "from torch import nn", "listings.run('masks')"):
        assert imports_torch(source)
    assert not imports_torch("from toytf import pytorch\nprint('import torch')\nlistings.stored('masks')")


def test_no_notebook_needs_torch():
    for path in reading.notebook_paths():
        for index, cell in reading.code_cells(reading.read_notebook(path)):
            try:
                needs = imports_torch(cell.source)
            except SyntaxError:  # a line for IPython
                continue
            assert not needs, reading.where(path.name, index, cell)


def test_only_listings_import_torch_when_they_are_imported():
    for path in PACKAGE.parent.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        at_once = "\n".join(ast.unparse(n) for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom)))
        is_listing = path.parent == PACKAGE and not path.name.startswith("_")
        assert imports_torch(at_once) == is_listing, path.name


# ---------------------------------------------------------------------------------------
# What the bridge refuses before it needs torch


def test_a_mask_must_be_boolean_and_have_its_axes():
    with pytest.raises(TypeError, match="mask: expected booleans, got dtype int64"):
        pytorch.attn_mask(np.ones((2, 2), np.int64))
    with pytest.raises(TypeError, match="is_token: expected booleans, got dtype float64"):
        pytorch.key_padding_mask(np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"mask: expected shape \(query, key\) or .*, got 2 x 1 x 3 x 3"):
        pytorch.attn_mask(np.ones((2, 1, 3, 3), bool))
    with pytest.raises(ValueError, match="n_heads: expected a number for a mask with a batch axis"):
        pytorch.attn_mask(np.ones((2, 3, 3), bool))


def test_an_attention_without_any_head_is_refused(monkeypatch):
    p = MultiHead(*(np.zeros((4, 4)) for _ in range(4)))
    monkeypatch.setattr(pytorch, "import_torch", lambda: None)
    with pytest.raises(ValueError, match="n_heads"):
        pytorch.multi_head_attention(p, 0)
