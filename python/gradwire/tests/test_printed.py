"""Losses that programs print: those of training, and nothing that may be another number."""

from __future__ import annotations

import math
import unittest

from gradwire.printed import LineReader, printed_loss, watch_stream

TOLD = [
    ("step 12 loss 1.5389", 1.5389),
    ("loss: 0.25", 0.25),
    ("loss=3", 3.0),
    ("LOSS = -1e-3", -0.001),
    ("iter 10: loss 4.2763, time 2301.23ms, mfu -100.00%", 4.2763),
    ("step 0: train loss 4.2874, val loss 4.2823", 4.2874),
    ("{'loss': 2.3026, 'grad_norm': 1.5, 'learning_rate': 5e-05}", 2.3026),
    ("{'loss': '2.303', 'grad_norm': '1.5', 'learning_rate': '5e-05'}", 2.303),
    ("Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.300039", 2.300039),
    ("Epoch: [0]  [ 10/100]  eta: 0:01  lr: 0.1  loss: 2.30 (2.31)", 2.30),
    ("[1,  2000] loss: 2.173", 2.173),
    ("loss_cls: 0.3 loss_box: 0.2 loss: 0.5", 0.5),
    ("2026-11-29 19:25:28,947 INFO trainer: train/loss=0.75 lr=0.1", 0.75),
    ("train_loss: 0.75", 0.75),
    ("training loss 0.75", 0.75),
    ("loss tensor(1.5389, grad_fn=<NllLossBackward0>)", 1.5389),
    ("loss: tensor(2., device='cuda:0')", 2.0),
    ("loss: 1.5, acc: 0.9", 1.5),
    ("loss: 1.5.", 1.5),
]
NOT_TOLD = [
    "val_loss: 0.5",
    "val loss 0.5",
    "val/loss: 0.5",
    "Test set: Average loss: 0.0012, Accuracy: 9912/10000",
    "validation: loss=0.5",
    "eval loss: 0.5",
    "loss_scale: 65536",
    "Loss_D: 0.5 Loss_G: 1.2",
    "weight loss 3 of 5",
    "lossless 1.5",
    "loss: 1,234.5",
    "loss: 0,25",
    "loss: 12%",
    "loss: 1.2.3",
    "loss: 5e",
    "loss scale 1024.0",
    "floss: 1.5",
    "the loss is infinite",
    "loss",
    "loss:",
    "",
]


class Lines(unittest.TestCase):
    def test_losses_of_training(self) -> None:
        for line, loss in TOLD:
            with self.subTest(line):
                self.assertEqual(printed_loss(line), loss)

    def test_other_numbers(self) -> None:
        for line in NOT_TOLD:
            with self.subTest(line):
                self.assertIsNone(printed_loss(line))

    def test_losses_that_are_not_finite(self) -> None:
        self.assertTrue(math.isnan(printed_loss("loss: nan") or 0))
        self.assertEqual(printed_loss("loss -inf"), -math.inf)

    def test_a_long_line_takes_no_time(self) -> None:
        for text in ("loss " * 400, "loss: " + "1" * 2000 + "x", " " * 2000, "-loss" * 400):
            self.assertIsNone(printed_loss(text))


class Streams(unittest.TestCase):
    def setUp(self) -> None:
        self.told: list[float] = []
        self.reader = LineReader(lambda loss, _line: self.told.append(loss))

    def write(self, *texts: str) -> list[float]:
        for text in texts:
            self.reader.write(text)
        return self.told

    def test_a_line_is_read_once_it_has_ended(self) -> None:
        self.assertEqual(self.write("step", " ", "1 loss ", "1.5"), [])
        self.assertEqual(self.write("25\nloss 2.5\nloss"), [1.525, 2.5])
        self.assertEqual(self.write(" 3.5", "\n"), [1.525, 2.5, 3.5])

    def test_a_bar_is_read_as_it_is_drawn_and_once(self) -> None:
        self.write("\r 10%|# | 1/9 [00:01, loss=1.5]", "\r 12%|# | 1/9 [00:02, loss=1.5]")
        self.assertEqual(self.write("\r 20%|##| 2/9 [00:03, loss=1.25]", "\n"), [1.5, 1.25])

    def test_a_line_is_drawn_again_however_it_ends(self) -> None:
        self.write(
            "1 loss 1.5", "\r", "2 loss 1.5", "\r", "3 loss 1.25\r", "4 loss 1.125\r5 loss 1.0\r"
        )
        self.assertEqual(self.write("\n", "loss 1.0\r\n"), [1.5, 1.25, 1.125, 1.0])

    def test_a_line_without_an_end_is_kept_up_to_a_length(self) -> None:
        self.write(*["x" * 1000] * 50)
        self.assertEqual(self.write(" loss 1.5\n", "loss 2.5\n"), [2.5])

    def test_a_stream_stays_what_it_is(self) -> None:
        class Stream:
            def __init__(self) -> None:
                self.written: list[str] = []

            def write(self, text: str) -> int:
                self.written.append(text)
                return len(text)

        stream = Stream()
        watch_stream(stream, self.reader.write)
        print("loss", 1.5, file=stream)
        self.assertEqual(stream.write("more"), 4)
        self.assertEqual("".join(stream.written), "loss 1.5\nmore")
        self.assertEqual(self.told, [1.5])
        watch_stream(None, self.reader.write)

    def test_a_stream_that_cannot_be_watched_is_left_alone(self) -> None:
        class Sealed:
            __slots__ = ()

            def write(self, text: str) -> int:
                return len(text)

        stream = Sealed()
        watch_stream(stream, self.reader.write)
        self.assertEqual(stream.write("loss 1.5\n"), 9)
        self.assertEqual(self.told, [])
