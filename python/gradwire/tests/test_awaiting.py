"""A process that a launcher has started finds the rank that waits for it."""

import os
import socket
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

from gradwire.awaiting import awaiting_bridge, rank_and_world
from gradwire.errors import GradwireError

LAUNCHED = {"RANK": "1", "WORLD_SIZE": "4"}


class Awaiting(unittest.TestCase):
    def setUp(self) -> None:
        parent = tempfile.TemporaryDirectory()
        self.addCleanup(parent.cleanup)
        self.parent = parent.name
        self.folder = Path(self.parent) / f"gradwire-awaiting-{os.getuid()}"
        self.folder.mkdir(mode=0o700)

    def found(self, **variables: str) -> "str | None":
        with mock.patch.dict(os.environ, variables, clear=True):
            return awaiting_bridge(self.parent)

    def wait(self, *names: str) -> None:
        for name in names:
            (self.folder / name).mkdir()

    def refused(self, **variables: str) -> GradwireError:
        with self.assertRaises(GradwireError) as raised:
            self.found(**variables)
        return raised.exception

    def test_the_one_run_that_waits_for_such_a_rank(self) -> None:
        self.wait("first.4.1", "first.4.11", "second.2.1", "second.2.0")
        self.assertEqual(self.found(**LAUNCHED), str(self.folder / "first.4.1" / "bridge"))
        self.assertIsNone(self.found(RANK="0", WORLD_SIZE="3"))

    def test_no_rank_is_awaited_without_a_launcher(self) -> None:
        self.wait("first.1.0")
        self.assertIsNone(self.found())
        self.assertIsNone(self.found(RANK="", WORLD_SIZE="1"))
        # The launcher itself has no rank.
        self.assertIsNone(self.found(GRADWIRE_RUN="first"))

    def test_of_several_runs_one_is_named(self) -> None:
        self.wait("first.4.1", "second.4.1")
        error = self.refused(**LAUNCHED)
        self.assertEqual(error.code, "AWAITED_TWICE")
        self.assertIn("first, second", str(error))
        self.assertEqual(
            self.found(**LAUNCHED, GRADWIRE_RUN="second"),
            str(self.folder / "second.4.1" / "bridge"),
        )

    def listen(self, name: str) -> socket.socket:
        self.wait(name)
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.addCleanup(server.close)
        server.bind(str(self.folder / name / "bridge"))
        server.listen(1)
        server.settimeout(0)
        return server

    def age(self, name: str) -> None:
        os.utime(self.folder / name, (0, 0))

    def test_remains_of_ranks_that_were_killed_are_left_out_and_removed(self) -> None:
        server = self.listen("live.4.1")
        self.listen("killed.4.1").close()
        self.wait("halfway.4.1")
        for name in ("live.4.1", "killed.4.1", "halfway.4.1"):
            self.age(name)
        self.assertEqual(self.found(**LAUNCHED), str(self.folder / "live.4.1" / "bridge"))
        self.assertEqual([one.name for one in self.folder.iterdir()], ["live.4.1"])
        # The rank takes its first connection for its program.
        with self.assertRaises(BlockingIOError):
            server.accept()

    def test_the_remains_of_one_rank_stop_no_program(self) -> None:
        self.listen("killed.4.1").close()
        self.assertIsNone(self.found(**LAUNCHED))
        error = self.refused(**LAUNCHED, GRADWIRE_RUN="killed")
        self.assertEqual(error.code, "BRIDGE_UNREACHABLE")

    def test_a_named_run_that_does_not_wait(self) -> None:
        self.wait("first.2.1")
        for run in ("first", "none", "../first"):
            error = self.refused(**LAUNCHED, GRADWIRE_RUN=run)
            self.assertEqual(error.code, "BRIDGE_UNREACHABLE")
            self.assertIn("rank 1 of 4", str(error))

    def test_a_directory_of_others_is_not_trusted(self) -> None:
        self.wait("first.4.1")
        self.folder.chmod(0o770)
        self.assertIsNone(self.found(**LAUNCHED))
        self.folder.chmod(0o700)
        self.folder.rename(Path(self.parent) / "elsewhere")
        self.folder.symlink_to(Path(self.parent) / "elsewhere")
        self.assertIsNone(self.found(**LAUNCHED))
        self.folder.unlink()
        self.assertIsNone(self.found(**LAUNCHED))

    def test_a_process_group_says_the_rank_as_well(self) -> None:
        group = types.SimpleNamespace(
            is_available=lambda: True,
            is_initialized=lambda: True,
            get_rank=lambda: 1,
            get_world_size=lambda: 4,
        )
        with mock.patch.dict(sys.modules, {"torch.distributed": group}):
            with mock.patch.dict(os.environ, {}, clear=True):
                self.assertEqual(rank_and_world(), (1, 4))
            with mock.patch.dict(os.environ, {"RANK": "0", "WORLD_SIZE": "2"}, clear=True):
                self.assertEqual(rank_and_world(), (0, 2))


if __name__ == "__main__":
    unittest.main()
