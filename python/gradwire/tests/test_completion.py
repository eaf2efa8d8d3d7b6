"""What a thread waits for ends with a call, in order, with its error if it had one."""

import contextlib
import threading
import unittest
from collections.abc import Iterator

from gradwire.completion import CompletionThread


class Completion(unittest.TestCase):
    def test_ends_are_told_in_order_with_their_errors(self) -> None:
        thread = CompletionThread()
        told: list[str] = []
        opened = threading.Event()

        def fail() -> None:
            raise ValueError("gone")

        thread.after(opened.wait, lambda error: told.append(f"first {error}"))
        thread.after(fail, lambda error: told.append(f"second {error}"))
        thread.after(lambda: None, lambda error: told.append(f"third {error}"))
        self.assertEqual(told, [])
        opened.set()
        thread.stop()
        self.assertEqual(told, ["first None", "second gone", "third None"])

    def test_waiting_and_its_end_have_their_context(self) -> None:
        thread = CompletionThread()
        told: list[str] = []

        @contextlib.contextmanager
        def context() -> Iterator[None]:
            told.append("begins")
            yield
            told.append("ends")

        thread.after(lambda: told.append("waits"), lambda _: told.append("told"), context())
        thread.stop()
        self.assertEqual(told, ["begins", "waits", "told", "ends"])

    def test_to_stop_what_never_began_is_nothing(self) -> None:
        before = threading.active_count()
        CompletionThread().stop()
        self.assertEqual(threading.active_count(), before)


if __name__ == "__main__":
    unittest.main()
