"""Each message of the agent is checked: its type, and the types of its values."""

import random
import unittest
from typing import Any

from gradwire.errors import GradwireError
from gradwire.messages import (
    Attached,
    Averaged,
    Failed,
    Go,
    Memory,
    Read,
    Saved,
    Write,
    parse,
)

VALID: list[tuple[dict[str, Any], object]] = [
    ({"type": "memory", "path": "/proc/1/fd/3", "bytes": 8}, Memory("/proc/1/fd/3", 8)),
    ({"type": "attached"}, Attached()),
    ({"type": "averaged", "hold": True}, Averaged(hold=True, finite=True)),
    ({"type": "averaged", "hold": False, "finite": False}, Averaged(hold=False, finite=False)),
    ({"type": "averaged", "hold": True, "trace": True}, Averaged(hold=True, trace=True)),
    ({"type": "read"}, Read(0)),
    ({"type": "read", "vector": 2}, Read(2)),
    ({"type": "write"}, Write(0)),
    ({"type": "write", "vector": 1}, Write(1)),
    ({"type": "go", "stop": False, "later": 1}, Go(False)),
]
SAVED: dict[str, Any] = {
    "type": "saved",
    "iteration": 3,
    "method": "topk",
    "residual": True,
    "states": ["AAAA", ""],
}
VALID += [
    (SAVED, Saved(3, "topk", True, ("AAAA", ""))),
    ({**SAVED, "residual": False, "states": []}, Saved(3, "topk", False, ())),
]
FAILURE = {"code": "PEER_SILENT", "message": "rank 1 is silent", "next": "Look", "rank": 1}
ANYTHING = [None, True, 0, -1, 1.5, "", "x", [], {}, [1], {"code": 1}]


class Messages(unittest.TestCase):
    def test_every_type_is_understood_and_keys_of_later_versions_are_left(self) -> None:
        for raw, message in VALID:
            self.assertEqual(parse(raw), message)

    def test_failed_has_the_error_of_the_run(self) -> None:
        message = parse({"type": "failed", "error": FAILURE})
        assert isinstance(message, Failed)
        self.assertEqual(str(message.error), "PEER_SILENT: rank 1 is silent. Look")
        self.assertEqual(message.error.code, "PEER_SILENT")
        bare = parse({"type": "failed", "error": {"code": "A", "message": "b"}})
        assert isinstance(bare, Failed)
        self.assertEqual(str(bare.error), "A: b")

    def test_what_is_missing_or_of_another_type_is_named(self) -> None:
        for raw, named in (
            ({"type": "memory", "path": "/x"}, "bytes"),
            ({"type": "memory", "path": "/x", "bytes": True}, "bytes"),
            ({"type": "memory", "path": 3, "bytes": 8}, "path"),
            ({"type": "averaged", "hold": 1}, "hold"),
            ({"type": "averaged", "hold": True, "finite": None}, "finite"),
            ({"type": "averaged", "hold": True, "trace": 1}, "trace"),
            ({"type": "read", "vector": -1}, "vector"),
            ({"type": "write", "vector": True}, "vector"),
            ({"type": "go"}, "stop"),
            ({**SAVED, "iteration": False}, "iteration"),
            ({**SAVED, "method": None}, "method"),
            ({**SAVED, "residual": 1}, "residual"),
            ({**SAVED, "states": "AAAA"}, "states"),
            ({**SAVED, "states": ["AAAA", 7]}, "states"),
            ({"type": "failed", "error": "x"}, "error"),
            ({"type": "failed", "error": {"code": "X"}}, "error"),
            ({"type": "hello"}, "hello"),
            ({}, "None"),
        ):
            with self.subTest(raw=raw), self.assertRaises(GradwireError) as raised:
                parse(raw)
            self.assertEqual(raised.exception.code, "BRIDGE_INVALID")
            self.assertIn(named, raised.exception.message)

    def test_random_values_give_messages_or_a_coded_error(self) -> None:
        chance = random.Random(3)
        honest = [raw for raw, _ in VALID] + [{"type": "failed", "error": FAILURE}]
        keys = sorted({key for raw in honest for key in raw})
        passed: set[str] = set()
        refused = 0
        for _ in range(5000):
            raw = dict(chance.choice(honest))
            for key in chance.sample(keys, chance.randrange(3)):
                raw[key] = chance.choice(ANYTHING)
            try:
                message = parse(raw)
            except GradwireError as error:
                self.assertEqual(error.code, "BRIDGE_INVALID")
                refused += 1
            else:
                passed.add(type(message).__name__)
                if isinstance(message, Saved):
                    self.assertTrue(all(type(one) is str for one in message.states))
        self.assertEqual(passed, {"Failed", *(type(message).__name__ for _, message in VALID)})
        self.assertGreater(refused, 500)


if __name__ == "__main__":
    unittest.main()
