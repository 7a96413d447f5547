"""A model in a file: `save` and `load`.

A file that a stranger made is read with care: what it declares is held against the file's own length
and against its own `Config` first; nothing is opened with pickle, and no array is made before somebody
has asked for it.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import zipfile
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from toytf._door import Array
from toytf._validate import as_floats, as_path, require_class, shape_text
from toytf.parameters import Config, Transformer, _outline, require_model, shapes
from toytf.tree import named_arrays

VERSION = 1  # of the files that `save` writes


def save(path, params: Transformer, cfg: Config, extra: dict | None = None) -> None:
    """Write parameters and their `Config` to an ``.npz`` file, without pickle.

    Parameters
    ----------
    path : str or path
    params : Transformer
    cfg : Config
    extra : dict, optional
        Whatever else belongs to the model and can be written as JSON; `load_extra` reads it.
    """
    path = as_path("path", path)
    require_model(params, cfg)
    arrays = named_arrays(params)
    try:
        _require_shapes({name: array.shape for name, array in arrays.items()}, cfg)
    except _DoesNotFit as misfit:
        raise ValueError(f"params: {misfit}") from None
    require_class("extra", {} if extra is None else extra, dict)
    try:
        about = json.dumps(
            {"format": "toytf", "version": VERSION, "config": dataclasses.asdict(cfg), "extra": extra or {}}
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"extra: expected what can be written as JSON, got something else: {error}") from error
    with open(path, "wb") as file:
        np.savez(file, about=np.array(about), **arrays)  # type: ignore[arg-type]  # no array is called allow_pickle


def load(path) -> tuple[Transformer, Config]:
    """Read what `save` wrote.

    The shapes of all arrays are compared with the file's own `Config` before one of them is read.

    Raises
    ------
    ValueError
        If the file is cut off or damaged, is not one of ours, or its arrays do not fit its `Config`.
    FileNotFoundError
        If there is none.
    """
    arrays, cfg, _ = _read(path)
    return _filled(_outline(cfg), arrays), cfg


def load_extra(path) -> dict:
    """Read what `save` was given as ``extra``; errors as of `load`."""
    return _read(path, arrays_too=False)[2]


class _DoesNotFit(ValueError):
    """A file is one of ours, and its parts do not belong together."""


def _read(path, arrays_too: bool = True) -> tuple[dict[str, Array], Config, dict]:
    path = as_path("path", path)
    expected = f"{path}: expected a file that toytf.store.save wrote"
    try:
        with open(path, "rb") as file:
            archive = _Archive(file)
            cfg, extra = _about(archive)
            _require_shapes({name: d.shape for name, d in archive.declared.items() if name != "about"}, cfg)
            names = [name for name in archive.declared if name != "about"] if arrays_too else []
            return {name: as_floats(name, archive.array(name)) for name in names}, cfg, extra
    except FileNotFoundError:
        raise
    except _DoesNotFit as misfit:
        raise ValueError(f"{path}: {misfit}") from None
    except _Foreign as error:
        raise ValueError(f"{expected}, got another .npz file ({error})") from error
    except Exception as error:  # a damaged file may end in any: of zipfile, of zlib, of NumPy
        raise ValueError(f"{expected}, got one that cannot be read: {error}") from error


class _Foreign(ValueError):
    """A file is an archive, and not one of ours."""


def _about(archive: _Archive) -> tuple[Config, dict]:
    """Return the `Config` that a file was saved with, and whatever else it was given."""
    try:
        about = json.loads(archive.text("about"))
        if about["format"] != "toytf" or about["version"] != VERSION:
            raise ValueError(f"expected format 'toytf', version {VERSION}, got another format or version")
        cfg, extra = Config(**about["config"]), about["extra"]
        require_class("extra", extra, dict)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise _Foreign(str(error)) from error
    return cfg, extra


def _require_shapes(found: dict[str, tuple[int, ...]], cfg: Config) -> None:
    """Raise `_DoesNotFit` unless arrays of these shapes are those of a model of `cfg`."""
    if cfg.n_encoder_layers + cfg.n_decoder_layers > len(found):  # and so many need not be listed
        raise _DoesNotFit(f"expected the arrays of its own Config, got {len(found)} for more layers than that")
    expected = shapes(cfg)
    if set(found) != set(expected):
        odd = sorted(set(found) ^ set(expected))[0]
        raise _DoesNotFit(f"expected the arrays of its own Config, got {odd!r} missing or left over")
    for name, shape in found.items():
        if shape != expected[name]:
            raise _DoesNotFit(f"{name}: expected shape {shape_text(expected[name])}, got {shape_text(shape)}")


def _filled(outline: Any, arrays: dict[str, Array], name: str = "") -> Any:
    """Return a tree like `outline`, with the array of its name in the place of each shape."""
    if isinstance(outline, tuple):
        return arrays[name]
    if dataclasses.is_dataclass(outline) and not isinstance(outline, type):
        parts = {
            field: _filled(part, arrays, f"{name}.{field}" if name else field) for field, part in vars(outline).items()
        }
        return type(outline)(**parts)
    if isinstance(outline, list):
        return [_filled(part, arrays, f"{name}.{i}") for i, part in enumerate(outline)]
    return outline


# ---------------------------------------------------------------- arrays in an archive

DENSEST = 1032  # deflate packs at most so many bytes into one
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
LONGEST_TEXT = 2**26  # bytes


@dataclass(frozen=True)
class _Declared:
    """What an array's header says."""

    shape: tuple[int, ...]
    dtype: np.dtype


class _Archive:
    """An ``.npz`` file, open for reading.

    Parameters
    ----------
    file : file, open in binary mode

    Attributes
    ----------
    declared : dict of str to _Declared
        What each array's header says, by the array's name.

    Raises
    ------
    ValueError, zipfile.BadZipFile, zlib.error, ...
        If it is none, or declares what cannot be. Reading damaged files ends in many ways: catch them all.
    """

    def __init__(self, file: BinaryIO):
        self._zip = zipfile.ZipFile(file)
        self._members: dict[str, zipfile.ZipInfo] = {}
        for member in self._zip.infolist():
            name = member.filename.removesuffix(".npy")
            if name == member.filename or name in self._members:
                raise ValueError(f"it holds {member.filename!r}, which is no array, or is there twice")
            self._members[name] = member
        if sum(member.compress_size for member in self._members.values()) > os.fstat(file.fileno()).st_size:
            raise ValueError("its members overlap")
        self.declared = {name: self._declared(member) for name, member in self._members.items()}

    def _declared(self, member: zipfile.ZipInfo) -> _Declared:
        """Read what one array declares, once it is seen to be as long as that."""
        if member.flag_bits & 0x1:
            raise ValueError(f"{member.filename} is encrypted")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{member.filename} is compressed in a way that NumPy does not use")
        try:
            with self._zip.open(member) as file:
                version = npy.read_magic(file)
                shape, _, dtype = HEADERS[version](file)
                length = file.tell() + math.prod(shape) * dtype.itemsize
        except Exception as error:
            raise ValueError(f"the header of {member.filename} is none of NumPy's: {error}") from error
        if dtype.hasobject:
            raise ValueError(f"{member.filename} holds Python objects, which only pickle could read")
        if min(shape, default=0) < 0 or length != member.file_size:
            raise ValueError(f"{member.filename} declares {shape} of {dtype}, and is {member.file_size} bytes long")
        if member.file_size > DENSEST * (member.compress_size + 1):
            raise ValueError(f"{member.filename} declares {member.file_size} bytes, packed into {member.compress_size}")
        return _Declared(shape, dtype)

    def array(self, name: str) -> np.ndarray:
        """Read one array."""
        with self._zip.open(self._members[name]) as file:
            array = npy.read_array(file, allow_pickle=False)
            file.read(1)  # at the very end the check sum is compared
        return array

    def text(self, name: str) -> str:
        """Read a text, which NumPy keeps as an array without axes."""
        if name not in self.declared:
            raise ValueError(f"it has no {name!r}")
        declared = self.declared[name]
        if declared.dtype.kind != "U" or declared.shape != () or declared.dtype.itemsize > LONGEST_TEXT:
            raise ValueError(f"its {name!r} is no text, but {declared.shape} of {declared.dtype}")
        return str(self.array(name))
