"""The vector has the tensors in their order, and what is ready of it is a growing end."""

import random
import unittest

from gradwire.layout import Layout, ReadyEnd


class Places(unittest.TestCase):
    def test_tensors_lie_one_behind_the_other(self) -> None:
        layout = Layout([("a", (2, 3)), ("scalar", ()), ("none", (0, 5)), ("b", [4])])
        places = [(one.name, one.offset, one.size) for one in layout.tensors]
        self.assertEqual(places, [("a", 0, 6), ("scalar", 6, 1), ("none", 7, 0), ("b", 7, 4)])
        self.assertEqual(layout.length, 11)


class Readiness(unittest.TestCase):
    def test_the_end_grows_over_tensors_that_came_before_their_turn(self) -> None:
        end = ReadyEnd(Layout([("a", (2,)), ("b", (3,)), ("c", (5,))]))
        self.assertEqual((end.start, end.is_complete), (10, False))
        end.mark(0)
        self.assertEqual((end.start, end.is_complete), (10, False))
        end.mark(2)
        self.assertEqual((end.start, end.is_complete), (5, False))
        end.mark(1)
        self.assertEqual((end.start, end.is_complete), (0, True))
        end.reset()
        self.assertEqual((end.start, end.is_complete), (10, False))

    def test_a_tensor_without_elements_is_awaited_too(self) -> None:
        end = ReadyEnd(Layout([("none", (0,)), ("a", (2,)), ("last", (0,))]))
        end.mark(1)
        self.assertEqual((end.start, end.is_complete), (2, False))
        end.mark(2)
        self.assertEqual((end.start, end.is_complete), (0, False))
        end.mark(0)
        self.assertEqual((end.start, end.is_complete), (0, True))

    def test_in_any_order_it_is_the_end_behind_the_last_gap(self) -> None:
        chance = random.Random(4)
        for _ in range(300):
            shapes = [(chance.randint(0, 4),) for _ in range(chance.randint(1, 9))]
            layout = Layout((str(index), shape) for index, shape in enumerate(shapes))
            end, marked = ReadyEnd(layout), set()
            order = chance.sample(range(len(shapes)), len(shapes))
            for index in order:
                end.mark(index)
                marked.add(index)
                gaps = [one for one in range(len(shapes)) if one not in marked]
                behind = max(gaps) + 1 if gaps else 0
                self.assertEqual(end.start, sum(size for (size,) in shapes[:behind]))
                self.assertEqual(end.is_complete, not gaps)


if __name__ == "__main__":
    unittest.main()
