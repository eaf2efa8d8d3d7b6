from __future__ import annotations

import socket
import threading
import unittest
from functools import partial

from gradwire.errors import GradwireError
from gradwire.framing import encode
from gradwire.link import Link
from gradwire.telling import TellingThread

MESSAGE = {"type": "stepped", "text": "x" * 1000}


class Telling(unittest.TestCase):
    def setUp(self) -> None:
        ours, self.agent = socket.socketpair()
        self.addCleanup(self.agent.close)
        self.link = Link(ours)
        self.addCleanup(self.link.close)
        self.telling = TellingThread(self.link)

    def test_all_that_was_told_arrives_in_its_order(self) -> None:
        told = [{"type": "stepped", "number": number} for number in range(100)]
        for message in told:
            self.telling.tell(partial(dict, message))
        self.telling.end(seconds=60)
        self.link.close()
        self.assertEqual(self._received(), b"".join(map(encode, told)))

    def test_what_was_told_arrives_before_the_end(self) -> None:
        self.telling.tell(lambda: MESSAGE)
        self.assertEqual(self.agent.recv(10), encode(MESSAGE)[:10])
        self.telling.end(seconds=60)

    def test_an_agent_that_is_behind_is_not_waited_for_and_gets_all_that_was_taken(self) -> None:
        taken = 0
        with self.assertRaises(BufferError):
            while True:
                self.telling.tell(lambda: MESSAGE)
                taken += 1
        pieces: list[bytes] = []
        reader = threading.Thread(target=lambda: pieces.append(self._received()))
        reader.start()
        self.telling.end(seconds=60)
        self.link.close()
        reader.join()
        self.assertEqual(pieces[0], taken * encode(MESSAGE))

    def test_an_agent_that_has_ended_is_an_error_of_a_later_message(self) -> None:
        self.agent.close()
        self.telling.tell(lambda: MESSAGE)
        self.telling.end(seconds=60)
        with self.assertRaises(GradwireError):
            self.telling.tell(lambda: MESSAGE)

    def test_nothing_told_has_nothing_to_end(self) -> None:
        self.telling.end(seconds=60)

    def _received(self) -> bytes:
        return b"".join(iter(lambda: self.agent.recv(2**20), b""))


if __name__ == "__main__":
    unittest.main()
