"""Spans of traced steps: they say the phases once more, by another way, and where they were."""

import random
import unittest
from collections.abc import Iterator
from typing import Any

from gradwire.step_clock import StepClock
from gradwire.step_spans import MOST_SPANS

PHASES = ("data", "forward", "backward", "apply")


class Program:
    """A program whose clock moves by as much as the test says."""

    def __init__(self, seed: int = 1) -> None:
        self.now = 10**15
        self.random = random.Random(seed)
        self.clock = StepClock()
        self.steps = 0
        self.meets = False
        """Whether it may take something from rank 0 before a forward pass."""
        self.averages = False
        """Whether it averages buckets by itself."""
        self._handed: list[tuple[int, int]] = []

    def passes(self, ns: int) -> None:
        self.now += ns

    def see(self, *events: str) -> None:
        """Moments in their order, each a while after the one before."""
        for event in events:
            self.passes(self.random.randrange(1, 1000))
            getattr(self.clock, event)(self.now)

    def some(self, most: int, *events: str) -> None:
        for _ in range(self.random.randrange(most + 1)):
            self.see(*events)

    def compute(self) -> None:
        """Passes over a batch, of which all but the last add up, and evaluations between them."""
        for last in (False,) * self.random.randrange(3) + (True,):
            self.some(2, "evaluation_begins", "evaluation_ends")
            self.see("forward_begins")
            if self.meets:
                self.some(1, "ranks_met")
            self.see("forward_ends")
            self.some(1, "evaluation_begins", "evaluation_ends")
            self.some(1, "forward_begins", "forward_ends")
            self.hand_over(last)
            self.some(2, "gradient_accumulated")
            self.hand_over(last)
            self.see("gradient_complete" if last else "gradient_accumulated")
            self.passes(self.random.randrange(100))
            self.hand_over(last)
            if last and self.random.random() < 0.3:
                # Another model, which the same pass has gone through.
                self.see("gradient_complete")
                self.hand_over(last)
        self.passes(self.random.randrange(1, 1000))
        for place, begin in self._handed:
            end = self.random.choice([None, self.random.randrange(begin, self.now + 1)])
            self.clock.bucket(begin, end, 4000, place)
        self._handed.clear()
        self.clock.averaged(self.now)

    def hand_over(self, last: bool) -> None:
        """A bucket is ready, of the last pass."""
        if last and self.averages:
            self._handed.append((len(self._handed), self.now))

    def step(self) -> None:
        """A step in one of the orders in which programs make it."""
        if self.steps > 0:
            self.some(1, "held")
        self.steps += 1
        kind = self.random.randrange(4)
        if kind == 0:
            # A closure of the optimiser.
            self.some(1, "evaluation_begins", "evaluation_ends")
            self.see("apply_begins")
            for _ in range(self.random.randrange(1, 4)):
                self.compute()
            self.see("apply_ends")
            return
        self.compute()
        self.some(1, "evaluation_begins", "evaluation_ends")
        for _ in range(kind - 1):
            self.see("apply_begins", "apply_ends")

    def close(self) -> dict[str, Any]:
        return self.clock.close(0.1)


def traced_steps(program: Program, steps: int) -> Iterator[dict[str, Any]]:
    """Steps of a program, as each is told with its spans."""
    for _ in range(steps):
        program.clock.trace()
        program.step()
        yield program.close()


class Spans(unittest.TestCase):
    def test_they_add_up_to_the_phases_and_follow_each_other_within_the_step(self) -> None:
        seen = dict.fromkeys(PHASES, 0)
        for seed in range(300):
            program = Program(seed)
            for _ in range(6):
                # What is traced later is told by a clock that knows less.
                traced = program.random.random() < 0.6
                if traced:
                    program.clock.trace()
                program.step()
                step = program.close()
                self.assertEqual("trace" in step, traced)
                if not traced:
                    continue
                spans = step["trace"]["spans"]
                for phase in PHASES:
                    own = [duration for name, _, duration in spans if name == phase]
                    self.assertAlmostEqual(sum(own) / 1e6, step.get(phase, 0), 9, (seed, phase))
                    seen[phase] += len(own)
                reached = 0
                for _, start, duration in sorted(spans, key=lambda span: span[1]):
                    self.assertGreaterEqual(start, reached)
                    self.assertGreater(duration, 0)
                    reached = start + duration
                self.assertLessEqual(reached, round(step["wall"] * 1e6))
                complete, averaged = step["trace"]["exchange"]
                self.assertLess(complete, averaged)
                inside = [one for one in spans if complete < one[1] + one[2] and one[1] < averaged]
                self.assertEqual(inside, [])
        self.assertGreater(min(seen.values()), 300)

    def test_sums_of_buckets_add_up_to_what_is_waited_for_and_what_is_hidden(self) -> None:
        hidden_ones = 0
        for seed in range(200):
            program = Program(seed)
            program.averages = True
            for step in traced_steps(program, 3):
                exposed = hidden = reached = 0
                for place, begin, end, since, complete in step["trace"]["sums"]:
                    self.assertIn(place, range(4))
                    self.assertLessEqual(begin, since)
                    self.assertGreaterEqual(since, reached)
                    reached = max(reached, end)
                    hidden += max(0, min(end, complete) - since)
                    exposed += max(0, end - max(since, complete))
                self.assertAlmostEqual(hidden / 1e6, step["overlapped"], 9)
                self.assertAlmostEqual(exposed / 1e6, step["wait"], 9)
                hidden_ones += hidden > 0
        self.assertGreater(hidden_ones, 100)

    def test_what_is_taken_from_rank_0_is_waited_for_and_in_no_other_phase(self) -> None:
        met = 0
        for seed in range(100):
            program = Program(seed)
            program.meets = True
            for step in traced_steps(program, 4):
                stretches = step["trace"].get("met", [])
                waited = sum(end - begin for begin, end in stretches)
                self.assertAlmostEqual(waited / 1e6, step.get("wait", 0), 9)
                for phase in PHASES:
                    own = [one[2] for one in step["trace"]["spans"] if one[0] == phase]
                    self.assertAlmostEqual(sum(own) / 1e6, step.get(phase, 0), 9, (seed, phase))
                for begin, end in stretches:
                    for _, start, duration in step["trace"]["spans"]:
                        self.assertFalse(start < end and begin < start + duration)
                met += len(stretches)
        self.assertGreater(met, 100)

    def test_evaluation_parts_the_fetching_of_data(self) -> None:
        program = Program()
        program.step()
        program.close()
        program.clock.trace()
        begin = program.now
        for ns, event in (
            (30, "evaluation_begins"),
            (500, "evaluation_ends"),
            (40, "forward_begins"),
            (7, "forward_ends"),
            (8, "gradient_complete"),
            (9, "averaged"),
        ):
            program.passes(ns)
            getattr(program.clock, event)(program.now)
        trace = program.close()["trace"]
        self.assertEqual(
            trace["spans"],
            [["data", 0, 30], ["data", 530, 40], ["forward", 570, 7], ["backward", 577, 8]],
        )
        self.assertEqual(trace["exchange"], [585, 594])
        self.assertEqual(begin + 594, program.now)

    def test_more_than_a_record_has_are_counted(self) -> None:
        program = Program()
        program.clock.trace()
        for _ in range(MOST_SPANS):
            program.see("forward_begins", "forward_ends", "gradient_accumulated")
        trace = program.close()["trace"]
        self.assertEqual(len(trace["spans"]), MOST_SPANS)
        # The first pass has no data before it.
        self.assertEqual(trace["dropped"], 3 * MOST_SPANS - 1 - MOST_SPANS)

    def test_a_step_that_is_not_traced_keeps_nothing(self) -> None:
        program = Program()
        program.clock.trace()
        program.step()
        program.close()
        program.step()
        self.assertNotIn("trace", program.close())


if __name__ == "__main__":
    unittest.main()
