"""What a thread waits for ends with a call, in order, with its error if it had one."""

import threading
import unittest

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

    def test_to_stop_what_never_began_is_nothing(self) -> None:
        before = threading.active_count()
        CompletionThread().stop()
        self.assertEqual(threading.active_count(), before)


if __name__ == "__main__":
    unittest.main()
