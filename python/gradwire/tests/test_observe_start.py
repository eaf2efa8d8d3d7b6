"""The start of an observed program: nothing of it changes before PyTorch, and little then."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

OBSERVE = Path(__file__).parent.parent / "src/gradwire/observe"
RANK = {"GRADWIRE_BRIDGE": "/nonexistent/bridge", "RANK": "0"}


class Start(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name: str, code: str) -> None:
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(code)

    def run_python(self, code: str, variables: "dict[str, str]") -> "tuple[str, str]":
        path = os.pathsep.join([str(OBSERVE), str(self.folder)])
        env = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": path, **variables}
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def test_the_users_sitecustomize_runs_under_its_name(self) -> None:
        self.write("sitecustomize.py", "print('mine', __name__)")
        code = "import sys; print(sys.modules['sitecustomize'].__file__, sys.path[1])"
        for variables in ({}, RANK):
            stdout, stderr = self.run_python(code, variables)
            mine = self.folder / "sitecustomize.py"
            self.assertEqual(stdout, f"mine sitecustomize\n{mine} {self.folder}\n")
            self.assertEqual(stderr, "")

    def test_an_error_in_it_is_said_as_without_observing(self) -> None:
        self.write("sitecustomize.py", "raise ValueError('mine')")
        stdout, stderr = self.run_python("print('goes on')", RANK)
        self.assertEqual(stdout, "goes on\n")
        self.assertIn("Error in sitecustomize", stderr)
        self.assertIn("ValueError: mine", stderr)

    def test_without_one_nothing_is_missing(self) -> None:
        code = (
            "import sys; print([p for p in sys.path if 'observe' in p], 'gradwire' in sys.modules)"
        )
        self.assertEqual(self.run_python(code, RANK), ("[] False\n", ""))

    def test_pytorch_is_imported_as_ever_if_observing_fails(self) -> None:
        self.write("torch/__init__.py", "import torch.part\nvalue = 1")
        self.write("torch/part.py", "")
        code = """
import importlib.util, sys
print(importlib.util.find_spec("torch").name, "torch" in sys.modules)
import torch
print(torch.value, torch.__spec__.loader.get_source("torch").count("value"), len(sys.meta_path))
import torch.part"""
        stdout, stderr = self.run_python(code, RANK)
        plain, _ = self.run_python(code, {})
        self.assertEqual(stdout, plain)
        self.assertRegex(stderr, r"^gradwire: the program is not observed: .*\n$")

    def test_only_ranks_are_observed(self) -> None:
        self.write("torch/__init__.py", "")
        code = "import torch, sys; print('gradwire' in sys.modules)"
        for variables in ({}, {"RANK": "0"}, {"GRADWIRE_BRIDGE": "/x"}):
            self.assertEqual(self.run_python(code, variables), ("False\n", ""))

    def test_a_program_without_pytorch_is_as_ever(self) -> None:
        code = """
try:
    import torch
except ModuleNotFoundError as error:
    print(error)"""
        # -S: without the packages of this Python.
        path = os.pathsep.join([str(OBSERVE), str(self.folder)])
        env = {"PYTHONPATH": path, **RANK}
        command = [sys.executable, "-S", "-c", f"import sitecustomize{code}"]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        self.assertEqual((done.stdout, done.stderr), ("No module named 'torch'\n", ""))


if __name__ == "__main__":
    unittest.main()
