"""A wait on the agent ends with its message or with its end, and keeps what was said last."""

import socket
import unittest

from gradwire.errors import GradwireError
from gradwire.framing import encode
from gradwire.link import Link
from gradwire.messages import Attached, Go

FAILED = {"type": "failed", "error": {"code": "PEER_SILENT", "message": "m", "next": "n"}}


class Waiting(unittest.TestCase):
    def setUp(self) -> None:
        ours, self.agent = socket.socketpair()
        self.link = Link(ours)
        self.addCleanup(self.link.close)
        self.addCleanup(self.agent.close)

    def raised(self, code: str) -> None:
        with self.assertRaises(GradwireError) as raised:
            self.link.receive()
        self.assertEqual(raised.exception.code, code)
        self.assertFalse(self.link.is_open)

    def test_messages_come_in_their_order(self) -> None:
        self.agent.sendall(encode({"type": "attached"}) + encode({"type": "go", "stop": True}))
        self.assertEqual(self.link.receive(), Attached())
        self.assertEqual(self.link.receive(), Go(True))
        self.assertTrue(self.link.is_open)

    def test_the_agents_end_ends_the_wait(self) -> None:
        self.agent.close()
        self.raised("BRIDGE_LOST")
        self.raised("BRIDGE_LOST")

    def test_an_end_within_a_message_ends_the_wait(self) -> None:
        self.agent.sendall(encode({"type": "attached"})[:-1])
        self.agent.close()
        self.raised("BRIDGE_LOST")

    def test_the_runs_failure_is_raised_as_the_agent_states_it(self) -> None:
        self.agent.sendall(encode(FAILED))
        self.raised("PEER_SILENT")

    def test_what_is_no_message_ends_the_wait(self) -> None:
        self.agent.sendall(encode({"type": "averaged", "hold": "yes"}))
        self.raised("BRIDGE_INVALID")

    def test_to_send_to_a_failed_run_raises_its_failure(self) -> None:
        self.agent.sendall(encode(FAILED))
        self.agent.close()
        with self.assertRaises(GradwireError) as raised:
            self.link.send({"type": "mapped"})
        self.assertEqual(raised.exception.code, "PEER_SILENT")

    def test_no_agent_at_the_path_is_named(self) -> None:
        with self.assertRaises(GradwireError) as raised:
            Link.connect("/nonexistent/bridge", mode="join", pid=1, torch="2")
        self.assertEqual(raised.exception.code, "BRIDGE_UNREACHABLE")
        self.assertIn("/nonexistent/bridge", raised.exception.message)


if __name__ == "__main__":
    unittest.main()
