"""Builds this package without any other: wheel, editable wheel and source distribution.

A PEP 517 backend that lies in the tree, so that `pip install` works on a machine without a
network. The same sources give the same bytes.
"""

from __future__ import annotations

import ast
import base64
import gzip
import hashlib
import io
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Optional

ROOT = Path(__file__).resolve().parent.parent
TAG = "py3-none-any"
# The earliest time that a zip file can have.
EPOCH = (1980, 1, 1, 0, 0, 0)
Config = Optional[dict[str, Any]]
Files = dict[str, bytes]


def build_wheel(directory: str, _config: Config = None, _metadata: str | None = None) -> str:
    """The package as pip installs it."""
    return _wheel(directory, _tree("src"))


def build_editable(directory: str, _config: Config = None, _metadata: str | None = None) -> str:
    """A pointer to the sources."""
    return _wheel(directory, {"__editable__.gradwire.pth": f"{ROOT / 'src'}\n".encode()})


def build_sdist(directory: str, _config: Config = None) -> str:
    """What is needed to build a wheel."""
    base = f"gradwire-{_version()}"
    files = {"PKG-INFO": _metadata_text().encode()}
    for name in ("LICENSE", "README.md", "pyproject.toml"):
        files[name] = (ROOT / name).read_bytes()
    for folder in ("src", "backend", "tests"):
        for name, content in _tree(folder).items():
            files[f"{folder}/{name}"] = content
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"{base}/{name}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    packed = gzip.compress(raw.getvalue(), mtime=0)
    (Path(directory) / f"{base}.tar.gz").write_bytes(packed)
    return f"{base}.tar.gz"


def _wheel(directory: str, content: Files) -> str:
    base = f"gradwire-{_version()}"
    info = f"{base}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: gradwire\nRoot-Is-Purelib: true\nTag: {TAG}\n"
    files = dict(sorted(content.items()))
    files[f"{info}/METADATA"] = _metadata_text().encode()
    files[f"{info}/WHEEL"] = wheel.encode()
    files[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = "".join(f"{name},{_digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    name = f"{base}-{TAG}.whl"
    with zipfile.ZipFile(Path(directory) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return name


def _tree(folder: str) -> Files:
    """Files of a folder, by their path within it."""
    top = ROOT / folder
    return {
        path.relative_to(top).as_posix(): path.read_bytes()
        for path in sorted(top.rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }


def _digest(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return f"sha256={digest.decode().rstrip('=')}"


def _version() -> str:
    text = (ROOT / "src/gradwire/version.py").read_text()
    found = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    if found is None:
        raise ValueError("version.py states no version")
    return found[1]


def _metadata_text() -> str:
    project = _project()
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {_version()}",
        f"Summary: {project['description']}",
        f"Keywords: {','.join(project['keywords'])}",
        f"License-Expression: {project['license']}",
        *(f"License-File: {name}" for name in project["license-files"]),
        f"Requires-Python: {project['requires-python']}",
        "Description-Content-Type: text/markdown",
        "",
        (ROOT / project["readme"]).read_text(),
    ]
    return "\n".join(lines)


def _project() -> dict[str, Any]:
    """The table [project] of pyproject.toml, whose strings and lists are those of Python too.

    Python itself reads TOML only from 3.11 on.
    """
    text = (ROOT / "pyproject.toml").read_text()
    table = re.search(r"^\[project\]\n(.*?)^\[", text, re.MULTILINE | re.DOTALL)
    if table is None:
        raise ValueError("pyproject.toml has no [project]")
    entries = re.findall(r"^([\w-]+) = (.+)$", table[1], re.MULTILINE)
    return {key: ast.literal_eval(value) for key, value in entries}
