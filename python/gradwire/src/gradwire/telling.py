"""A thread that tells the agent of steps, twice a second at most.

An agent that wakes for every step takes a core from the program that often. What is told is made
here, too: steps in a row take less time than each between two passes of a model, which fills the
caches with other things. Nothing waits for the agent, or for a GPU, but this thread.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from .framing import encode
from .link import Link
from .messages import Message as Asked

Message = Callable[[], Mapping[str, Any]]
"""A function that makes a message."""

_BETWEEN_SECONDS = 0.5

_MOST_UNSENT = 10_000
"""Messages that wait for an agent that is behind, seconds of the shortest steps."""


class TellingThread:
    """Messages on their way to the agent, in their order."""

    def __init__(self, link: Link, asked: Callable[[Asked], object]) -> None:
        """`asked`: takes what the agent asks, before the next messages are made."""
        self._link = link
        self._asked = asked
        self._untold: deque[Message] = deque()
        self._has_some = threading.Event()
        self._is_ending = threading.Event()
        self._error: Exception | None = None
        self._thread: threading.Thread | None = None

    def tell(self, message: Message) -> None:
        """Takes a message; it is made and sent later.

        Raises BufferError if the agent is too far behind, and the error of an earlier message.
        """
        if self._error is not None:
            raise self._error
        if len(self._untold) >= _MOST_UNSENT:
            raise BufferError("Gradwire's agent does not take the steps")
        self._untold.append(message)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="gradwire-tells", daemon=True)
            self._thread.start()
        self._has_some.set()

    def end(self, seconds: float) -> None:
        """Tells what is left, for some seconds at most."""
        if self._thread is None:
            return
        self._is_ending.set()
        self._has_some.set()
        self._thread.join(seconds)

    def _run(self) -> None:
        is_ending = False
        while not is_ending:
            self._has_some.wait()
            # In this order: whoever ends sets the latter first.
            self._has_some.clear()
            is_ending = self._is_ending.is_set()
            try:
                while (message := self._link.taken()) is not None:
                    self._asked(message)
                self._link.send_frame(self._made())
            except Exception as error:
                self._error = error
                return
            self._is_ending.wait(_BETWEEN_SECONDS)

    def _made(self) -> bytearray:
        frames = bytearray()
        while self._untold:
            frames += encode(self._untold.popleft()())
            # The program goes first.
            time.sleep(0)
        return frames
