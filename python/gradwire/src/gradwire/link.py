"""The socket between a program and its rank's agent.

Whoever waits reads the socket, so there is no thread for it: a wait ends with a message, or with
the agent's end, which closes the socket.
"""

from __future__ import annotations

import platform
import socket
import threading
from collections.abc import Mapping
from typing import Any

from .errors import GradwireError
from .framing import Decoder, encode
from .messages import Failed, Message, parse

VERSION = 1
"""Version of the messages."""

_PIECE = 65536


class Link:
    """A connection to the agent, on which the program has said hello."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._decoder = Decoder()
        self._sending = threading.Lock()
        self._error: GradwireError | None = None

    @property
    def is_open(self) -> bool:
        """Whether neither the run has failed nor the agent ended, as far as this end knows."""
        return self._error is None

    @classmethod
    def connect(cls, path: str, *, mode: str, pid: int, torch: str) -> Link:
        """Connects. Raises GradwireError `BRIDGE_UNREACHABLE`."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(path)
        except OSError as error:
            connection.close()
            raise GradwireError(
                "BRIDGE_UNREACHABLE",
                f"Gradwire's agent does not listen at {path} ($GRADWIRE_BRIDGE): {error.strerror}",
                "Start the program with gradwire exec; unset GRADWIRE_BRIDGE to run it without",
            ) from None
        link = cls(connection)
        hello = {"type": "hello", "version": VERSION, "mode": mode, "pid": pid}
        link.send({**hello, "python": platform.python_version(), "torch": torch})
        return link

    def send(self, message: Mapping[str, Any]) -> None:
        """Sends a message, and waits if the agent is behind."""
        self.send_frame(encode(message))

    def send_frame(self, frame: bytes | bytearray) -> None:
        """Sends encoded messages."""
        try:
            with self._sending:
                self._socket.sendall(frame)
        except OSError:
            raise self._lost() from None

    def receive(self) -> Message:
        """Waits for the next message. Raises GradwireError if the run fails or the agent ends."""
        if self._error is not None:
            raise self._error
        try:
            return self._receive()
        except GradwireError as error:
            self._error = error
            raise

    def _receive(self) -> Message:
        while True:
            raw = self._decoder.next()
            if raw is not None:
                message = parse(raw)
                if isinstance(message, Failed):
                    raise message.error
                return message
            try:
                piece = self._socket.recv(_PIECE)
            except OSError:
                piece = b""
            if not piece:
                raise _ended()
            self._decoder.push(piece)

    def taken(self) -> Message | None:
        """The next message if it has come, without waiting. Raises GradwireError if the run fails.

        An agent that has ended is found by whoever sends to it.
        """
        while (raw := self._decoder.next()) is None:
            try:
                piece = self._socket.recv(_PIECE, socket.MSG_DONTWAIT)
            except OSError:
                return None
            if not piece:
                return None
            self._decoder.push(piece)
        message = parse(raw)
        if isinstance(message, Failed):
            raise message.error
        return message

    def close(self) -> None:
        """Closes this process's end; one that a fork has left elsewhere stays open."""
        self._socket.close()

    def _lost(self) -> GradwireError:
        """Why nothing can be sent: the agent may have said so before it closed the socket."""
        try:
            while True:
                self.receive()
        except GradwireError as error:
            return error


def _ended() -> GradwireError:
    return GradwireError(
        "BRIDGE_LOST",
        "Gradwire's agent has ended",
        "Read the log of this rank: gradwire runs log RUN --rank N",
    )
