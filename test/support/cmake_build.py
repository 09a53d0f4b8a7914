"""Configures and builds a CMake project, with ninja and ccache where they are there.

Tests that need the same programs give the same folder: one builds, the others wait and
find it built.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def execute(*words: object, timeout: float | None = 1200) -> str:
    """What it prints; ends this process where it fails."""
    run = subprocess.run([str(word) for word in words], text=True, capture_output=True,
                         timeout=timeout)
    if run.returncode != 0:
        sys.exit(f"error: {' '.join(map(str, words))} exits with {run.returncode}:\n"
                 f"{run.stdout[-4000:]}{run.stderr[-4000:]}")
    return run.stdout


def build(source: Path, folder: Path, *options: str, cmake: str = "cmake", jobs: int = 2,
          targets: Sequence[str] = ()) -> None:
    """All targets, where none are named."""
    words = list(options)
    if shutil.which("ninja"):
        words.append("-GNinja")
    if shutil.which("ccache"):
        os.environ["CCACHE_SLOPPINESS"] = (
            "pch_defines,time_macros,include_file_mtime,include_file_ctime")
        words.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        execute(cmake, "-S", source, "-B", folder, *words, timeout=None)
        chosen = ["--target", *targets] if targets else []
        execute(cmake, "--build", folder, f"-j{jobs}", *chosen, timeout=None)
