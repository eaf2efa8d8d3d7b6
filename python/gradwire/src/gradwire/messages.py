"""Messages from Gradwire's agent, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Union

from .errors import GradwireError
from .framing import invalid


@dataclass(frozen=True)
class Memory:
    """Where the vector is that both sides share."""

    path: str
    bytes: int


@dataclass(frozen=True)
class Attached:
    """All ranks are connected."""


@dataclass(frozen=True)
class Averaged:
    """The vector is the average. With `hold` the program waits after its step.

    If a rank's gradient was not `finite`, there is none, and all ranks have to know. With `trace`
    the step is told with its spans.
    """

    hold: bool
    finite: bool = True
    trace: bool = False


@dataclass(frozen=True)
class Read:
    """A request for the weights, or for the i-th vector of states from 1 on, in the vector."""

    vector: int = 0


@dataclass(frozen=True)
class Write:
    """A request to take the weights, or a vector of states, from the vector."""

    vector: int = 0


@dataclass(frozen=True)
class Go:
    """The program may go on; with `stop` it is to end."""

    stop: bool


@dataclass(frozen=True)
class Saved:
    """What the program is to keep: with `residual` the vector is that; `states` in base64."""

    iteration: int
    method: str
    residual: bool
    states: tuple[str, ...]


@dataclass(frozen=True)
class Trace:
    """A request to tell some steps of an observed program with their spans, from the first one on.

    Steps are counted from 0.
    """

    first: int
    steps: int


@dataclass(frozen=True)
class Failed:
    """The run has failed."""

    error: GradwireError


Message = Union[Memory, Attached, Averaged, Read, Write, Go, Saved, Trace, Failed]


def parse(raw: Mapping[str, Any]) -> Message:
    """A message as the agent sent it. Raises GradwireError `BRIDGE_INVALID`."""
    kind = raw.get("type")
    if kind == "memory":
        return Memory(_value(raw, "path", str), _value(raw, "bytes", int))
    if kind == "attached":
        return Attached()
    if kind == "averaged":
        hold, finite = _value(raw, "hold", bool), _value(raw, "finite", bool, True)
        return Averaged(hold, finite, _value(raw, "trace", bool, False))
    if kind == "read":
        return Read(_index(raw))
    if kind == "write":
        return Write(_index(raw))
    if kind == "go":
        return Go(_value(raw, "stop", bool))
    if kind == "saved":
        states = _value(raw, "states", list)
        if not all(isinstance(one, str) for one in states):
            raise invalid("saved with states that are no texts")
        iteration = _value(raw, "iteration", int)
        residual = _value(raw, "residual", bool)
        return Saved(iteration, _value(raw, "method", str), residual, tuple(states))
    if kind == "trace":
        return Trace(_value(raw, "first", int), _value(raw, "steps", int))
    if kind == "failed":
        return Failed(_error(_value(raw, "error", dict)))
    raise invalid(f"type {kind!r}"[:200])


def _index(raw: Mapping[str, Any]) -> int:
    index: int = _value(raw, "vector", int, 0)
    if index < 0:
        raise invalid(f"{raw.get('type')} with vector = {index}"[:200])
    return index


def _value(raw: Mapping[str, Any], key: str, kind: type, absent: Any = None) -> Any:
    value = raw.get(key, absent)
    # A bool is an int, in Python.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise invalid(f"{raw.get('type')} with {key} = {value!r}"[:200])
    return value


def _error(raw: Mapping[str, Any]) -> GradwireError:
    code, message = raw.get("code"), raw.get("message")
    if not isinstance(code, str) or not isinstance(message, str):
        raise invalid(f"failed with error = {raw!r}"[:200])
    next = raw.get("next", "")
    return GradwireError(code, message, next if isinstance(next, str) else "")
