"""Messages between the grader and a sandbox: a JSON header and the raw bytes of arrays, nothing else.

A message is ``b"TTF1"``, the lengths of header and body (two 4-byte numbers, little-endian), the
header as UTF-8 JSON, and the body. Nothing in it is ever executed or unpickled. Both sides use this
file; it needs the standard library and NumPy alone, since `toytf` is not there inside.

>>> message = pack({"n": 1}, [np.array([1.0, 2.0])])
>>> header, body, _ = first(message)
>>> read_arrays(header["arrays"], body)
[array([1., 2.])]
"""

import json
import math
import struct
from typing import Any

import numpy as np

MAGIC = b"TTF1"
HEAD = struct.Struct("<4sII")
DTYPES = set("f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1".split())
MOST_HEADER = 1 << 18  # bytes
MOST_BODY = 1 << 24
MOST_ARRAYS = 64
MOST_AXES = 8


class Malformed(ValueError):
    """Bytes that are no message."""


# ---------------------------------------------------------------- writing


def pack(header: dict, arrays=()) -> bytes:
    """Write one message; ``header["arrays"]`` will describe the arrays, whose bytes follow.

    `Malformed` if it would be larger than the other side accepts.
    """
    arrays = [_portable(array) for array in arrays]
    descriptions = [{"dtype": array.dtype.str[1:], "shape": list(array.shape)} for array in arrays]
    body = b"".join(array.tobytes() for array in arrays)
    text = json.dumps({**header, "arrays": descriptions}).encode("ascii")
    if len(text) > MOST_HEADER or len(body) > MOST_BODY:
        raise Malformed(f"{len(descriptions)} arrays of {len(body)} bytes (at most {MOST_BODY} are read)")
    return HEAD.pack(MAGIC, len(text), len(body)) + text + body


def _portable(array) -> np.ndarray:
    """In one byte order, and with one of the dtypes that a message may hold."""
    array = np.asarray(array)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    name = array.dtype.str[1:]
    if name not in DTYPES:
        raise Malformed(f"expected an array of numbers, got dtype {array.dtype}")
    return np.ascontiguousarray(array, dtype=f"<{name}").reshape(array.shape)


# ---------------------------------------------------------------- reading


def first(came: bytes | bytearray) -> tuple[dict, bytes, int] | None:
    """The first message of what came, as header, body and size; None while a part of it is missing.

    `Malformed` if it is none: then its first bytes are others, it is too large, or its header is no JSON object.
    """
    if len(came) < HEAD.size:
        return None
    magic, header_size, body_size = HEAD.unpack(came[: HEAD.size])
    if magic != MAGIC or header_size > MOST_HEADER or body_size > MOST_BODY:
        raise Malformed("expected a message, got other bytes")
    start, end = HEAD.size + header_size, HEAD.size + header_size + body_size
    if len(came) < end:
        return None
    try:
        header = json.loads(came[HEAD.size : start].decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Malformed(f"expected JSON, got {type(error).__name__}") from None
    if not isinstance(header, dict):
        raise Malformed(f"expected a JSON object, got {type(header).__name__}")
    return header, bytes(came[start:end]), end


def read_arrays(descriptions: Any, body: bytes) -> list[np.ndarray]:
    """Read the arrays of a message; each one's dtype, shape and bytes must fit together exactly."""
    if not isinstance(descriptions, list) or len(descriptions) > MOST_ARRAYS:
        raise Malformed(f"expected at most {MOST_ARRAYS} arrays")
    arrays, start = [], 0
    for one in descriptions:
        dtype, shape = _description(one)
        size = math.prod(shape) * int(dtype[1:])
        if start + size > len(body):
            raise Malformed("expected the bytes of every array, got fewer")
        piece = body[start : start + size]
        start += size
        if dtype == "b1":  # a byte of 2 would be neither True nor False
            array = np.frombuffer(piece, dtype="u1") != 0
        else:
            array = np.frombuffer(piece, dtype=f"<{dtype}")
        arrays.append(array.reshape(shape).astype(array.dtype.newbyteorder("="), copy=True))
    if start != len(body):
        raise Malformed("expected no bytes after the arrays")
    return arrays


def _description(one: Any) -> tuple[str, tuple[int, ...]]:
    if not isinstance(one, dict) or set(one) != {"dtype", "shape"}:
        raise Malformed("expected dtype and shape")
    dtype, shape = one["dtype"], one["shape"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise Malformed(f"expected a dtype of {', '.join(sorted(DTYPES))}")
    if not isinstance(shape, list) or len(shape) > MOST_AXES:
        raise Malformed(f"expected a shape of at most {MOST_AXES} axes")
    if not all(type(length) is int and length >= 0 for length in shape):
        raise Malformed("expected lengths of axes")
    if math.prod(max(1, length) for length in shape) > MOST_BODY:  # NumPy refuses such a shape, an empty one too
        raise Malformed(f"expected at most {MOST_BODY} numbers")
    return dtype, tuple(shape)


# ---------------------------------------------------------------- arguments of a call


def pack_value(value: Any, arrays: list) -> Any:
    """Describe an argument in JSON, ``{'tuple': [{'array': 0}, None, 3]}``; its arrays are appended to `arrays`."""
    if isinstance(value, (np.ndarray, np.generic)):
        arrays.append(value)
        return {"array" if isinstance(value, np.ndarray) else "scalar": len(arrays) - 1}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, tuple):
        return {"tuple": [pack_value(part, arrays) for part in value]}
    if isinstance(value, list):
        return [pack_value(part, arrays) for part in value]
    if isinstance(value, dict):
        return {"dict": [[pack_value(k, arrays), pack_value(v, arrays)] for k, v in value.items()]}
    raise TypeError(f"argument: expected numbers, text, arrays, or lists of them, got {type(value).__name__}")


def pack_argument(value: Any) -> tuple[str, list[np.ndarray]]:
    """One argument as a text and arrays: two that give the same are the same, to the bit and in their types."""
    arrays: list = []
    text = json.dumps(pack_value(value, arrays))
    return text, [_portable(array) for array in arrays]


def unpack_value(value: Any, arrays: list[np.ndarray]) -> Any:
    """Make an argument from its description."""
    if isinstance(value, list):
        return [unpack_value(part, arrays) for part in value]
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "array":
        return arrays[inner]
    if kind == "scalar":
        return arrays[inner][()]
    if kind == "tuple":
        return tuple(unpack_value(part, arrays) for part in inner)
    return {unpack_value(k, arrays): unpack_value(v, arrays) for k, v in inner}
