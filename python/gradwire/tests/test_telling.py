from __future__ import annotations

import socket
import threading
import unittest
from functools import partial

from gradwire.errors import GradwireError
from gradwire.framing import encode
from gradwire.link import Link
from gradwire.messages import Attached, Message, Trace
from gradwire.telling import TellingThread

MESSAGE = {"type": "stepped", "text": "x" * 1000}


class Telling(unittest.TestCase):
    def setUp(self) -> None:
        ours, self.agent = socket.socketpair()
        self.addCleanup(self.agent.close)
        self.link = Link(ours)
        self.addCleanup(self.link.close)
        self.asked: list[Message] = []
        self.telling = TellingThread(self.link, self.asked.append)

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

    def test_what_the_agent_asks_is_taken_before_the_next_message_is_made(self) -> None:
        asked = encode({"type": "trace", "first": 7, "steps": 20})
        self.agent.sendall(encode({"type": "attached"}) + asked[:9])
        seen: list[list[Message]] = []

        def message() -> dict[str, str]:
            seen.append(list(self.asked))
            return {"type": "stepped"}

        self.telling.tell(message)
        self.agent.recv(2**10)
        self.agent.sendall(asked[9:])
        self.telling.tell(message)
        self.telling.end(seconds=60)
        self.assertEqual(seen, [[Attached()], [Attached(), Trace(7, 20)]])

    def test_a_run_that_fails_is_an_error_of_a_later_message(self) -> None:
        failed = {"code": "RUN_FAILED", "message": "a rank has failed"}
        self.agent.sendall(encode({"type": "failed", "error": failed}))
        self.telling.tell(lambda: MESSAGE)
        self.telling.end(seconds=60)
        with self.assertRaisesRegex(GradwireError, "RUN_FAILED"):
            self.telling.tell(lambda: MESSAGE)

    def _received(self) -> bytes:
        return b"".join(iter(lambda: self.agent.recv(2**20), b""))


if __name__ == "__main__":
    unittest.main()
