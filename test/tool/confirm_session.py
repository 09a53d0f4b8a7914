#!/usr/bin/env python3
"""Runs the session of docs/torch-confirm.md and compares what it prints with the page.

    confirm_session.py --build FOLDER --database FOLDER --torch-confirm FILE --cache-dir FOLDER
                       [--update]

Both folders stand for build/example, which tool/quickstart configures and the session's first
command builds: one has the program, the other a compile_commands.json that Clang can use.
Numbers are those of one run and not compared, but for those of places. --update writes what is
printed now into the page.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import sessions  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "torch-confirm.md"
BUILDS = "ninja -C build/example --quiet vision"
CONFIRMS = re.compile(r"build/bin/torch-confirm run .* -- build/example/vision")
NUMBER = re.compile(r" *(?<![:\w])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


def run(command: str, arguments: argparse.Namespace) -> str:
    """What the command prints, as it would in a checkout after tool/quickstart."""
    if command == BUILDS:
        return ""
    if not CONFIRMS.fullmatch(command):
        sys.exit(f"{PAGE}: a command that this test does not know: {command}")
    words = command.replace("build/bin/torch-confirm run",
                            f"{arguments.torch_confirm} run "
                            f"--cache-dir {arguments.cache_dir}")
    words = words.replace("-p build/example", f"-p {arguments.database}")
    words = words.replace("build/example", str(arguments.build))
    done = subprocess.run(["bash", "-c", words], cwd=ROOT, text=True, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, OMP_NUM_THREADS="1"))
    if done.returncode != 0:
        sys.exit(f"{words} ends with {done.returncode}:\n{done.stdout}")
    # Standard output of the program and the report do not mix: the report comes last.
    text = done.stdout
    # As it is given, and as it is shown: from the folder of the commands.
    for folder in [arguments.database, arguments.build]:
        for shown in [str(folder), os.path.relpath(folder, ROOT)]:
            text = text.replace(shown, "build/example")
    # Of the first run on a machine only.
    text = re.sub(r"^torch-confirm: (compiling|waiting for) .*\n", "", text, flags=re.M)
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--torch-confirm", type=Path, required=True)
    parser.add_argument("--cache-dir", type=Path, required=True)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    text = PAGE.read_text()
    block = sessions.BLOCK.findall(text)[0]
    commands = re.findall(r"^\$ (.*)$", block, re.M)
    today = "".join(f"$ {command}\n{run(command, arguments)}" for command in commands)
    if arguments.update:
        PAGE.write_text(text.replace(block, today, 1))
        return 0
    difference = list(difflib.unified_diff(
        NUMBER.sub(" N", block).splitlines(), NUMBER.sub(" N", today).splitlines(),
        str(PAGE), "today", lineterm=""))
    print("\n".join(difference) or f"session: {len(commands)} commands, as the page shows them")
    return 1 if difference or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
