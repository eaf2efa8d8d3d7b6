"""PyTorch for tests that need it: elsewhere they are skipped."""

import importlib.util
import unittest

HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
