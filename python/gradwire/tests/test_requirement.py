"""A PyTorch that is too old is named before anything that it lacks is used."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from gradwire.requirement import too_old

SOURCES = Path(__file__).parent.parent / "src"
JOIN = """
import gradwire
try:
    gradwire.join()
except gradwire.GradwireError as error:
    print(error)"""


class Versions(unittest.TestCase):
    def test_versions_are_compared_by_their_numbers(self) -> None:
        for version in ("1.13.1", "2.0.1", "2.0.1+cu118", "2.0.0a0+gitc263bd4", "0.4"):
            self.assertEqual(too_old(version), f"PyTorch {version} is older than 2.1")
        for version in (
            "2.1.0",
            "2.1.0a0+git4bb2b88",
            "2.13.0+cpu",
            "2.10.0",
            "3.0.0.dev20270101",
            "10.0",
        ):
            self.assertIsNone(too_old(version), version)

    def test_a_version_that_says_nothing_is_taken(self) -> None:
        for version in ("", "unknown", "git4bb2b88", None):
            self.assertIsNone(too_old(version), version)


class OldTorch(unittest.TestCase):
    def said(self, version: str, code: str, *paths: Path) -> "tuple[str, str]":
        """Output of a rank whose PyTorch is nothing but a version."""
        with tempfile.TemporaryDirectory() as folder:
            package = Path(folder) / "torch"
            package.mkdir()
            (package / "__init__.py").write_text(f"__version__ = {version!r}")
            env = {
                "PATH": os.environ.get("PATH", ""),
                "PYTHONPATH": os.pathsep.join(map(str, [*paths, folder])),
                "GRADWIRE_BRIDGE": "/nonexistent/bridge",
                "RANK": "0",
            }
            done = subprocess.run(
                [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
            )
        return done.stdout, done.stderr

    def test_join_names_it(self) -> None:
        stdout, _ = self.said("2.0.1", JOIN, SOURCES)
        told = "PYTORCH_MISSING: PyTorch 2.0.1 is older than 2.1. Run: pip install --upgrade torch"
        self.assertEqual(stdout, f"{told}\n")

    def test_an_observed_program_goes_on_and_a_line_says_why_it_is_not_observed(self) -> None:
        code = "import torch, sys; print(sys.stdout.write.__name__, 'torch.nn' in sys.modules)"
        told = "gradwire: the program is not observed: PyTorch 2.0.1 is older than 2.1"
        said = self.said("2.0.1", code, SOURCES / "gradwire/observe")
        self.assertEqual(said, ("write False\n", f"{told}\n"))


if __name__ == "__main__":
    unittest.main()
