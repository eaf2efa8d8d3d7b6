"""Messages on the socket: a length of four bytes, little-endian, then that many bytes of JSON.

No message carries numbers in bulk; those are in shared memory. A number that is not finite,
which JSON does not know, is the string `NaN`, `Infinity` or `-Infinity`.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from typing import Any, Union

from .errors import GradwireError

MOST_BYTES = 16 * 2**20
"""Bytes of the longest message."""

_LENGTH = struct.Struct("<I")

Number = Union[float, str]


def encode(message: Mapping[str, Any]) -> bytes:
    """Frame of a message."""
    body = json.dumps(message, allow_nan=False, separators=(",", ":")).encode()
    if len(body) > MOST_BYTES:
        raise GradwireError(
            "BRIDGE_TOO_LONG",
            f"a message of {len(body)} bytes is longer than {MOST_BYTES}",
            "Log fewer values, or train a model of fewer tensors",
        )
    return _LENGTH.pack(len(body)) + body


def encode_ready(start: int) -> bytes:
    """Frame of the message `ready`, of which a step may have hundreds."""
    body = b'{"type":"ready","from":%d}' % start
    return _LENGTH.pack(len(body)) + body


def encode_number(value: float) -> Number:
    """A number as JSON can have it."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


class Decoder:
    """Takes bytes in pieces of any size and gives the messages that they complete."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def push(self, piece: bytes) -> None:
        """Adds bytes as they were received."""
        self._pending += piece

    def next(self) -> dict[str, Any] | None:
        """The next message, or None if it is not complete yet.

        Raises GradwireError `BRIDGE_INVALID` for what is no message.
        """
        if len(self._pending) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._pending)
        if length > MOST_BYTES:
            raise invalid(f"a message says that it has {length} bytes")
        end = _LENGTH.size + length
        if len(self._pending) < end:
            return None
        body = bytes(self._pending[_LENGTH.size : end])
        del self._pending[:end]
        try:
            message = json.loads(body.decode())
        except (ValueError, RecursionError):
            raise invalid(f"{body[:100]!r} is no JSON") from None
        if not isinstance(message, dict):
            raise invalid(f"{body[:100]!r} is no JSON object")
        return message


def invalid(problem: str) -> GradwireError:
    """The error for what Gradwire's agent must not send."""
    return GradwireError(
        "BRIDGE_INVALID",
        f"Gradwire's agent sent what is no message: {problem}",
        "Install the package gradwire of the same version as the app",
    )
