"""A model in a file: `save` and `load`.

A file that a stranger made is read with care: nothing is opened with pickle, and no array is made before what its
header declares was held against the file's own `Config`.
"""

from __future__ import annotations

import dataclasses
import json
import zipfile
from typing import Any

import numpy as np
from numpy.lib import format as npy

from toytf._door import Array
from toytf._validate import as_floats, as_path, require_class, shape_text
from toytf.parameters import Config, Transformer, _outline, require_model, shapes
from toytf.tree import named_arrays

VERSION = 1  # of the files that `save` writes
LONGEST = 2**24  # bytes of what a file says about itself


def save(path, params: Transformer, cfg: Config, extra: dict | None = None, dtype=None) -> None:
    """Write parameters and their `Config` to an ``.npz`` file, without pickle.

    `extra` is whatever else belongs to the model and can be written as JSON; `load_extra` reads it. With a `dtype` the
    arrays are rounded to it: float16 halves the file, and keeps three digits of each number.
    """
    path = as_path("path", path)
    require_model(params, cfg)
    arrays = {name: array.astype(dtype or array.dtype) for name, array in named_arrays(params).items()}
    _require_shapes({name: array.shape for name, array in arrays.items()}, cfg)
    about = {"format": "toytf", "version": VERSION, "config": dataclasses.asdict(cfg), "extra": extra or {}}
    text = np.array(json.dumps(about))
    with open(path, "wb") as file:
        np.savez(file, about=text, **arrays)  # type: ignore[arg-type]  # no array is called allow_pickle


def load(path, dtype=None) -> tuple[Transformer, Config]:
    """Read what `save` wrote, in its own dtype or in another.

    A file that is cut off or damaged, is not one of ours, or whose arrays do not fit its `Config` is a `ValueError`.
    """
    arrays, cfg, _ = _read(path)
    params = _outline(cfg)  # with the shape of each array in its place
    for name, array in arrays.items():
        *above, field = name.split(".")
        part: Any = params
        for step in above:
            part = part[int(step)] if step.isdigit() else getattr(part, step)
        setattr(part, field, array.astype(dtype or array.dtype))
    return params, cfg


def load_extra(path) -> dict:
    """Read what `save` was given as ``extra``; errors as of `load`."""
    return _read(path)[2]


def _read(path) -> tuple[dict[str, Array], Config, dict]:
    try:
        with np.load(as_path("path", path), allow_pickle=False) as file:
            if file.zip.getinfo("about.npy").file_size > LONGEST:
                raise ValueError("what it says about itself is too long")
            about = json.loads(str(file["about"]))
            if (about["format"], about["version"]) != ("toytf", VERSION):
                raise ValueError(f"its format is not 'toytf', version {VERSION}")
            cfg, extra = Config(**about["config"]), about["extra"]
            require_class("extra", extra, dict)
            names = [name for name in file.files if name != "about"]
            _require_shapes({name: _declared(file.zip, f"{name}.npy") for name in names}, cfg)
            return {name: as_floats(name, file[name]) for name in names}, cfg, extra
    except OSError:  # there is no such file, or it may not be read
        raise
    except Exception as error:  # a damaged file may end in any: of zipfile, of zlib, of NumPy, of JSON
        raise ValueError(f"{path}: expected a file that toytf.store.save wrote, got another: {error}") from error


def _declared(archive: zipfile.ZipFile, member: str) -> tuple[int, ...]:
    """Read the shape that an array's header declares."""
    with archive.open(member) as file:
        read = npy.read_array_header_1_0 if npy.read_magic(file) == (1, 0) else npy.read_array_header_2_0
        return read(file)[0]


def _require_shapes(found: dict[str, tuple[int, ...]], cfg: Config) -> None:
    """Raise `ValueError` unless arrays of these shapes are those of a model of `cfg`."""
    if cfg.n_encoder_layers + cfg.n_decoder_layers > len(found):  # and so many need not be listed
        raise ValueError(f"expected the arrays of its Config, got {len(found)} for more layers than that")
    expected = shapes(cfg)
    if odd := sorted(found.keys() ^ expected.keys()):
        raise ValueError(f"expected the arrays of its Config, got {odd[0]!r} missing or left over")
    for name, shape in found.items():
        if shape != expected[name]:
            raise ValueError(f"{name}: expected shape {shape_text(expected[name])}, got {shape_text(shape)}")
