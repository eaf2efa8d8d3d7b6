"""Messages survive any cutting of the stream, and what is no message is a coded error."""

import json
import random
import struct
import unittest
from typing import Any

from gradwire.errors import GradwireError
from gradwire.framing import MOST_BYTES, Decoder, encode, encode_number, encode_ready

MESSAGES: list[dict[str, Any]] = [
    {"type": "go", "stop": False},
    {"type": "memory", "path": '/proc/1/fd/\N{GREEK SMALL LETTER ALPHA}"\n', "bytes": 2**40},
    {"type": "failed", "error": {"code": "X", "message": "m" * 70000, "next": ""}},
]


def frame(body: bytes) -> bytes:
    return struct.pack("<I", len(body)) + body


def decoded(stream: bytes) -> list[object]:
    decoder = Decoder()
    decoder.push(stream)
    messages: list[object] = []
    while (message := decoder.next()) is not None:
        messages.append(message)
    return messages


class Framing(unittest.TestCase):
    def test_a_frame_is_a_length_of_four_bytes_little_endian_and_json(self) -> None:
        self.assertEqual(encode({"a": 1}), b'\x07\x00\x00\x00{"a":1}')

    def test_what_is_ready_is_a_message_like_others(self) -> None:
        for start in (0, 7, 2**40):
            self.assertEqual(encode_ready(start), encode({"type": "ready", "from": start}))

    def test_messages_survive_any_cutting(self) -> None:
        stream = b"".join(encode(message) for message in MESSAGES)
        chance = random.Random(1)
        for most in (1, 2, 5, 1000, len(stream)):
            decoder, messages, at = Decoder(), [], 0
            while at < len(stream):
                size = chance.randint(1, most)
                decoder.push(stream[at : at + size])
                at += size
                while (message := decoder.next()) is not None:
                    messages.append(message)
            self.assertEqual(messages, MESSAGES)

    def test_half_a_message_is_none_yet(self) -> None:
        for cut in range(len(encode(MESSAGES[0]))):
            self.assertEqual(decoded(encode(MESSAGES[0])[:cut]), [])

    def test_what_is_no_message_is_a_coded_error(self) -> None:
        bodies = (b"", b"{", b"[]", b"1", b"null", b"\xff\xfe", b'"x"', b"[" * 100_000)
        for body in bodies:
            with self.subTest(body=body[:10]), self.assertRaises(GradwireError) as raised:
                decoded(frame(body))
            self.assertEqual(raised.exception.code, "BRIDGE_INVALID")

    def test_a_length_over_the_limit_is_refused_before_its_body_comes(self) -> None:
        with self.assertRaises(GradwireError) as raised:
            decoded(struct.pack("<I", MOST_BYTES + 1))
        self.assertEqual(raised.exception.code, "BRIDGE_INVALID")
        self.assertEqual(decoded(struct.pack("<I", MOST_BYTES)), [])

    def test_a_message_over_the_limit_is_not_sent(self) -> None:
        with self.assertRaises(GradwireError) as raised:
            encode({"type": "x" * MOST_BYTES})
        self.assertEqual(raised.exception.code, "BRIDGE_TOO_LONG")

    def test_random_bytes_give_messages_or_a_coded_error(self) -> None:
        chance = random.Random(2)
        valid = [encode(message) for message in MESSAGES[:2]]
        errors = 0
        for _ in range(5000):
            stream = bytearray(b"".join(chance.choices(valid, k=3)))
            for _ in range(chance.randint(1, 4)):
                stream[chance.randrange(len(stream))] = chance.randrange(256)
            try:
                messages = decoded(bytes(stream))
            except GradwireError as error:
                self.assertEqual(error.code, "BRIDGE_INVALID")
                errors += 1
            else:
                self.assertTrue(all(isinstance(message, dict) for message in messages))
        self.assertGreater(errors, 100)

    def test_numbers_that_json_has_not_are_strings(self) -> None:
        numbers = [1.5, 0, float("nan"), float("inf"), float("-inf")]
        encoded = [encode_number(number) for number in numbers]
        self.assertEqual(encoded, [1.5, 0, "NaN", "Infinity", "-Infinity"])
        with self.assertRaises(ValueError):
            encode({"value": float("nan")})
        self.assertEqual(json.loads(encode({"value": 0.1})[4:])["value"], 0.1)


if __name__ == "__main__":
    unittest.main()
