#!/usr/bin/env python3
"""Runs the sessions of docs/torch-confirm.md and compares what they print with the page.

    confirm_session.py --build FOLDER --database FOLDER --torch-confirm FILE --cache-dir FOLDER
                       [--part run|experiment|fix] [--torch-tidy FILE] [--update]

Both folders stand for build/example, which tool/quickstart configures and the session's first
command builds: one has the program, the other a compile_commands.json that Clang can use.
Numbers are those of one run and not compared, but for those of places.

    run          the first session. --update writes what is printed now into the page
    experiment   of the session with --experiment the page shows one finding, which has to stand
                 in what is printed
    fix          the session of torch-confirm fix, which builds the program twice or more; it needs
                 --torch-tidy, for the findings are made of the database
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
EXPERIMENTS = ("build/bin/torch-confirm run --experiment --analyze -p build/example "
               "-- build/example/vision")
FIXES = "build/bin/torch-confirm fix -p build/example --analyze -- build/example/vision"
ANALYSES = "torch-confirm: analysing what is compiled in 'build/example' with torch-tidy\n"
NUMBER = re.compile(r" *(?<![:\w])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


def execute(words: str, timeout: int = 300) -> str:
    done = subprocess.run(["bash", "-c", words], cwd=ROOT, text=True, timeout=timeout,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, OMP_NUM_THREADS="1"))
    if done.returncode != 0:
        sys.exit(f"{words} ends with {done.returncode}:\n{done.stdout}")
    # Standard output of the program and the report do not mix: the report comes last.
    return done.stdout


def as_shown(text: str, arguments: argparse.Namespace) -> str:
    """As it is given, and as it is shown: from the folder of the commands."""
    for folder in [arguments.database, arguments.build]:
        for shown in [str(folder), os.path.relpath(folder, ROOT)]:
            text = text.replace(shown, "build/example")
    # Of the first run on a machine only.
    text = re.sub(r"^torch-confirm: (compiling|waiting for) .*\n", "", text, flags=re.M)
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


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
    return as_shown(execute(words), arguments)


def without_numbers(text: str) -> list[str]:
    return NUMBER.sub(" N", text).splitlines()


def block_with(text: str, part: str) -> str:
    found = [block for block in sessions.BLOCK.findall(text) if part in block]
    if len(found) != 1:
        sys.exit(f"{PAGE} has {len(found)} sessions with '{part}', and not one")
    return found[0]


def compare_experiment(arguments: argparse.Namespace) -> int:
    """The lines that the page shows stand below each other in what is printed."""
    text = PAGE.read_text()
    block = without_numbers(block_with(text, "    experiment: "))
    today = run(EXPERIMENTS, arguments)
    lines = without_numbers(today)
    if any(lines[i:i + len(block)] == block for i in range(len(lines))):
        print(f"experiment: {len(block)} lines, as the page shows them")
        return 0
    print(f"{PAGE}: this is not in what {EXPERIMENTS} prints:\n" + "\n".join(block)
          + f"\n\nIt prints:\n{today}")
    return 1


def fix_lines(text: str) -> list[str]:
    """Without what differs between machines: the folders, and how much a sum changes."""
    text = text.replace(str(ROOT), "/home/me/torch-tidy")
    text = re.sub(r"/\S*/torch-confirm-\w+/[^/\s]+", "/tmp/torch-confirm-X/torch-tidy", text)
    text = re.sub(r" +[-+]\d[\d.]* %$", "", text, flags=re.M)
    return without_numbers(text)


def compare_fix(arguments: argparse.Namespace) -> int:
    block = block_with(PAGE.read_text(), f"$ {FIXES}\n")
    findings = arguments.database / "fix.sarif"
    execute(f"{arguments.torch_tidy} --quiet -p {arguments.database} --sarif={findings}")
    words = (f"{arguments.torch_confirm} fix --cache-dir {arguments.cache_dir} "
             f"-p {arguments.build} --findings {findings} -- {arguments.build}/vision")
    today = f"$ {FIXES}\n{ANALYSES}" + as_shown(execute(words, 1400), arguments)
    difference = list(difflib.unified_diff(fix_lines(block), fix_lines(today), str(PAGE), "today",
                                           lineterm=""))
    print("\n".join(difference) or "fix: as the page shows it")
    return 1 if difference else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--torch-confirm", type=Path, required=True)
    parser.add_argument("--cache-dir", type=Path, required=True)
    parser.add_argument("--part", choices=["run", "experiment", "fix"], default="run")
    parser.add_argument("--torch-tidy", type=Path)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    if arguments.part == "experiment":
        return compare_experiment(arguments)
    if arguments.part == "fix":
        if not arguments.torch_tidy:
            parser.error("--part fix needs --torch-tidy")
        return compare_fix(arguments)
    text = PAGE.read_text()
    block = sessions.BLOCK.findall(text)[0]
    commands = re.findall(r"^\$ (.*)$", block, re.M)
    today = "".join(f"$ {command}\n{run(command, arguments)}" for command in commands)
    if arguments.update:
        PAGE.write_text(text.replace(block, today, 1))
        return 0
    difference = list(difflib.unified_diff(
        without_numbers(block), without_numbers(today), str(PAGE), "today", lineterm=""))
    print("\n".join(difference) or f"session: {len(commands)} commands, as the page shows them")
    return 1 if difference or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
