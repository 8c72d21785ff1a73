"""Helpers of the tests of the secure half."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import headwater

#: The directory that holds the package under test.
ROOT = Path(headwater.__path__[0]).parent


def python(code: str, *options: str, exe: str = sys.executable, **env: str) -> str:
    """Runs `code` in a new interpreter that finds the package, and returns its output."""
    path = os.pathsep.join([str(ROOT), str(Path(__file__).parent)])
    done = subprocess.run(
        [exe, *options, "-c", code],
        env={**os.environ, "PYTHONPATH": path, **env},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def find_python(minor: int) -> str | None:
    """Returns an interpreter of Python 3.minor that runs: this one, of PATH, or of pyenv."""
    if sys.version_info[:2] == (3, minor):
        return sys.executable
    name = f"python3.{minor}"
    found = [Path(path) for path in [shutil.which(name)] if path]
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found += versions.glob(f"3.{minor}.*/bin/{name}")
    for exe in map(str, found):
        if subprocess.run([exe, "-c", ""], capture_output=True).returncode == 0:
            return exe
    return None
