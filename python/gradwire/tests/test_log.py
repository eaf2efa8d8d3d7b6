"""Values that a program logs are checked where it logs them."""

import unittest
from typing import Any

from gradwire.errors import GradwireError
from gradwire.session import Values


class LoggedNumbers(unittest.TestCase):
    def refused(self, values: Any, **named: Any) -> str:
        with self.assertRaises(GradwireError) as caught:
            Values().add(values, named)
        self.assertEqual(caught.exception.code, "LOG_INVALID")
        return caught.exception.message

    def test_numbers_have_names(self) -> None:
        self.assertIn("by name, not 0.5", self.refused(0.5))

    def test_what_is_no_number_is_named(self) -> None:
        self.assertIn("loss is no number", self.refused(None, loss="abc"))
        self.assertIn("loss is no number", self.refused({"loss": None}))
        self.assertIn("loss is no number", self.refused(None, loss=10**400))

    def test_of_one_name_the_last_counts(self) -> None:
        values = Values()
        values.add({"loss": 1}, {})
        values.add(None, {"loss": 2})
        self.assertEqual(values.take(), {"loss": 2.0})
