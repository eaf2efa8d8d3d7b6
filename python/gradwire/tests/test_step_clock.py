"""Phases of steps, with a clock that only moves when the test says so."""

import time
import unittest
from typing import Any

from gradwire.step_clock import StepClock


class Stopwatch:
    """A StepClock whose time is given in milliseconds."""

    def __init__(self) -> None:
        self.ms = 0.0
        self.clock = StepClock()

    def after(self, ms: float, event: str) -> None:
        self.ms += ms
        getattr(self.clock, event)(round(self.ms * 1e6))

    def step(self, data: float) -> None:
        self.after(data, "forward_begins")
        self.after(3, "forward_ends")
        self.after(5, "gradient_complete")
        self.after(7, "averaged")
        self.after(1, "apply_begins")
        self.after(2, "apply_ends")

    def close(self) -> dict[str, Any]:
        return self.clock.close(0.1)


class Phases(unittest.TestCase):
    def test_the_first_step_begins_with_its_forward_pass(self) -> None:
        watch = Stopwatch()
        watch.step(data=100)
        step = watch.close()
        since_1970 = time.time() * 1e3 - time.monotonic() * 1e3
        self.assertAlmostEqual(step.pop("at") - since_1970, 100, delta=5000)
        expected = {"wall": 18, "data": 0, "forward": 3, "backward": 5, "apply": 2, "lr": 0.1}
        self.assertEqual(step, expected)

    def test_the_next_one_begins_at_its_end_and_has_the_time_for_data(self) -> None:
        watch = Stopwatch()
        watch.step(data=100)
        watch.ms += 4
        watch.close()
        watch.step(data=6)
        step = watch.close()
        self.assertEqual((step["wall"], step["data"]), (28, 10))

    def test_passes_that_accumulate_are_summed_and_the_data_between_them_is_data(self) -> None:
        watch = Stopwatch()
        watch.after(0, "forward_begins")
        watch.after(1, "forward_ends")
        watch.after(2, "gradient_accumulated")
        watch.after(10, "forward_begins")
        watch.after(3, "forward_ends")
        watch.after(4, "gradient_accumulated")
        watch.after(1, "gradient_complete")
        watch.after(1, "averaged")
        step = watch.close()
        phases = (step["data"], step["forward"], step["backward"], step["wall"])
        self.assertEqual(phases, (10, 4, 7, 22))

    def test_a_second_forward_pass_before_the_backward_pass_is_no_data(self) -> None:
        watch = Stopwatch()
        watch.after(0, "forward_begins")
        watch.after(1, "forward_ends")
        watch.after(10, "forward_begins")
        watch.after(3, "forward_ends")
        watch.after(4, "gradient_complete")
        watch.after(0, "averaged")
        step = watch.close()
        self.assertEqual((step["data"], step["forward"], step["backward"]), (0, 4, 4))

    def test_evaluation_and_holding_are_in_no_phase(self) -> None:
        watch = Stopwatch()
        watch.step(data=0)
        watch.close()
        watch.after(20, "held")
        watch.after(0, "evaluation_begins")
        watch.after(50, "evaluation_ends")
        watch.step(data=6)
        step = watch.close()
        self.assertEqual((step["data"], step["wall"]), (6, 20 + 50 + 6 + 18))

    def test_passes_within_the_optimisers_step_are_not_its_time(self) -> None:
        watch = Stopwatch()
        watch.after(0, "forward_begins")
        watch.after(0, "forward_ends")
        watch.after(1, "apply_begins")
        watch.after(0, "forward_begins")
        watch.after(3, "forward_ends")
        watch.after(5, "gradient_complete")
        watch.after(7, "averaged")
        watch.after(2, "apply_ends")
        step = watch.close()
        self.assertEqual((step["apply"], step["forward"], step["backward"]), (2, 3, 5))

    def test_data_for_passes_within_the_optimisers_step_come_before_it(self) -> None:
        watch = Stopwatch()
        watch.step(data=0)
        watch.close()
        watch.after(4, "apply_begins")
        watch.after(1, "forward_begins")
        watch.after(3, "forward_ends")
        watch.after(5, "gradient_complete")
        watch.after(7, "averaged")
        watch.after(2, "apply_ends")
        step = watch.close()
        self.assertEqual((step["data"], step["apply"], step["forward"]), (4, 3, 3))

    def test_what_an_optimiser_does_between_passes_of_its_closure_is_its_step_and_no_data(
        self,
    ) -> None:
        watch = Stopwatch()
        watch.step(data=0)
        watch.close()
        watch.after(4, "apply_begins")
        for between in (1, 20):
            watch.after(between, "forward_begins")
            watch.after(3, "forward_ends")
            watch.after(5, "gradient_complete")
            watch.after(7, "averaged")
        watch.after(2, "apply_ends")
        step = watch.close()
        self.assertEqual((step["data"], step["apply"], step["forward"]), (4, 1 + 20 + 2, 6))

    def test_a_pass_through_several_models_lasts_until_the_last_has_its_gradient(self) -> None:
        watch = Stopwatch()
        watch.after(0, "forward_begins")
        watch.after(3, "forward_ends")
        watch.after(5, "gradient_complete")
        watch.after(6, "gradient_complete")
        watch.after(7, "averaged")
        watch.after(1, "apply_begins")
        watch.after(2, "apply_ends")
        step = watch.close()
        self.assertEqual((step["backward"], step["wall"]), (11, 24))

    def test_handing_over_the_last_bucket_is_no_time_of_its_sum(self) -> None:
        watch = Stopwatch()
        watch.after(0, "forward_begins")
        watch.after(10, "forward_ends")
        watch.after(10, "gradient_complete")
        watch.clock.bucket(21_000_000, 26_000_000, 100)
        watch.after(8, "averaged")
        step = watch.close()
        self.assertEqual((step["overlapped"], step["wait"]), (0, 5))

    def test_without_an_optimisers_step_it_ends_with_the_average(self) -> None:
        watch = Stopwatch()
        watch.after(0, "forward_begins")
        watch.after(3, "forward_ends")
        watch.after(5, "gradient_complete")
        watch.after(7, "averaged")
        watch.ms += 4
        step = watch.close()
        self.assertEqual((step["wall"], step["apply"]), (15, 0))
        watch.step(data=0)
        self.assertEqual(watch.close()["data"], 4)

    def test_communication_before_the_last_gradient_is_hidden_the_rest_is_waited_for(self) -> None:
        watch = Stopwatch()
        watch.after(0, "forward_begins")
        watch.after(10, "forward_ends")
        ms = 1_000_000
        watch.clock.bucket(12 * ms, 16 * ms, 100, 3)
        watch.clock.bucket(14 * ms, 18 * ms, 200, 2)
        watch.clock.bucket(19 * ms, 27 * ms, 300, 1)
        watch.clock.bucket(19 * ms, 19 * ms, 0, 0)
        watch.after(10, "gradient_complete")
        watch.after(20, "averaged")
        step = watch.close()
        seen = (step["overlapped"], step["wait"], step["bytes"], step["backward"])
        self.assertEqual(seen, (6 + 1, 7, 600, 10))
        # Place, begin and end from the first one's begin, and time that is waited for and hidden:
        # the oldest bucket's where two are in flight.
        self.assertEqual(
            step["buckets"],
            [[3, 0, 4, 0, 4, 1], [2, 2, 6, 0, 2, 1], [1, 7, 15, 7, 1, 1], [0, 7, 7, 0, 0, 1]],
        )
        watch.step(data=0)
        self.assertEqual(watch.close()["buckets"], [])

    def test_communication_whose_end_was_not_seen_lasts_until_the_average(self) -> None:
        watch = Stopwatch()
        watch.after(0, "forward_begins")
        watch.after(10, "forward_ends")
        watch.clock.bucket(15_000_000, None, 100)
        watch.after(10, "gradient_complete")
        watch.after(8, "averaged")
        step = watch.close()
        self.assertEqual((step["overlapped"], step["wait"]), (5, 8))

    def test_no_part_is_less_than_nothing_where_a_gpus_clock_is_behind(self) -> None:
        watch = Stopwatch()
        watch.step(data=100)
        watch.close()
        watch.step(data=-0.5)
        self.assertEqual(watch.close()["data"], 0)

    def test_what_was_never_seen_is_absent(self) -> None:
        watch = Stopwatch()
        watch.after(5, "apply_begins")
        watch.after(2, "apply_ends")
        self.assertEqual(sorted(watch.close()), ["apply", "at", "lr", "wall"])
        watch.after(5, "backward_begins")
        watch.after(3, "gradient_accumulated")
        watch.after(1, "apply_begins")
        watch.after(2, "apply_ends")
        step = watch.close()
        self.assertEqual((step["backward"], step["wall"], "forward" in step), (3, 11, False))


if __name__ == "__main__":
    unittest.main()
