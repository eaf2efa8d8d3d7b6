"""A thread that tells the agent of steps, four times a second at most.

An agent that wakes for every step takes a core from the program that often. Nothing here waits for
the agent but this thread.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from .framing import encode
from .link import Link

_BETWEEN_SECONDS = 0.25

_MOST_UNSENT = 2**20
"""Bytes that wait for an agent that is behind."""


class TellingThread:
    """Messages on their way to the agent, in their order."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._frames = bytearray()
        self._lock = threading.Lock()
        self._has_frames = threading.Event()
        self._is_ending = threading.Event()
        self._error: Exception | None = None
        self._thread: threading.Thread | None = None

    def tell(self, message: Mapping[str, Any]) -> None:
        """Takes a message; it is sent later.

        Raises BufferError if the agent is too far behind, and the error of an earlier message.
        """
        if self._error is not None:
            raise self._error
        frame = encode(message)
        with self._lock:
            if len(self._frames) + len(frame) > _MOST_UNSENT:
                raise BufferError("Gradwire's agent does not take the steps")
            self._frames += frame
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="gradwire-tells", daemon=True)
            self._thread.start()
        self._has_frames.set()

    def end(self, seconds: float) -> None:
        """Tells what is left, for some seconds at most."""
        if self._thread is None:
            return
        self._is_ending.set()
        self._has_frames.set()
        self._thread.join(seconds)

    def _run(self) -> None:
        is_ending = False
        while not is_ending:
            self._has_frames.wait()
            # In this order: whoever ends sets the latter first.
            self._has_frames.clear()
            is_ending = self._is_ending.is_set()
            with self._lock:
                frames, self._frames = self._frames, bytearray()
            try:
                self._link.send_frame(frames)
            except Exception as error:
                self._error = error
                return
            self._is_ending.wait(_BETWEEN_SECONDS)
