"""The socket to the agent, as the process that computes for it sees it."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Any

from ..framing import Decoder, encode

_PIECE = 65536


class Channel:
    """Messages to and from the agent."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._decoder = Decoder()

    @classmethod
    def connect(cls, path: str) -> Channel:
        """Connects to the socket at a path."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(path)
        return cls(connection)

    def send(self, message: Mapping[str, Any]) -> None:
        """Sends a message; waits if the agent is behind."""
        self.send_frame(encode(message))

    def send_frame(self, frame: bytes) -> None:
        """Sends an encoded message."""
        self._socket.sendall(frame)

    def receive(self) -> dict[str, Any] | None:
        """Waits for the next message; None once the agent has closed the socket."""
        while True:
            message = self._decoder.next()
            if message is not None:
                return message
            try:
                piece = self._socket.recv(_PIECE)
            except ConnectionError:
                return None
            if not piece:
                return None
            self._decoder.push(piece)
