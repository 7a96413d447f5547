"""Reads the arrays of an ``.npz`` file that a stranger may have made.

What the file declares is read first, and held against the file's own length; nothing is opened with
pickle, and no array is made before somebody has asked for it.
"""

from __future__ import annotations

import math
import os
import zipfile
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.lib import format as npy

DENSEST = 1032  # deflate packs at most so many bytes into one
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
LONGEST_TEXT = 2**26  # bytes


@dataclass(frozen=True)
class Declared:
    """What an array's header says."""

    shape: tuple[int, ...]
    dtype: np.dtype


class Archive:
    """An ``.npz`` file, open for reading.

    Parameters
    ----------
    file : file, open in binary mode

    Attributes
    ----------
    declared : dict of str to Declared
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

    def _declared(self, member: zipfile.ZipInfo) -> Declared:
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
        return Declared(shape, dtype)

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
