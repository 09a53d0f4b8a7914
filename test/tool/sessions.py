#!/usr/bin/env python3
"""Runs the sessions of the documentation and compares what they print.

    sessions.py --site SITE.JSON --work FOLDER [--update] PAGE...

A session is a block that opens with ```console. Its lines that begin with "$ " are
commands, the others what they print, standard error included. They run in a folder
that holds test/tool/Inputs/session and build/compile_commands.json. --update writes
what is printed now into the page.
"""

import argparse
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

INPUTS = Path(__file__).resolve().parent / "Inputs" / "session"
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.M | re.S)


def prepare(folder: Path, site: dict[str, Any]) -> dict[str, str]:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(INPUTS, folder)
    (folder / "build").mkdir()
    (folder / "build" / "lib").symlink_to(Path(site["plugin"]).parent)
    (folder / "build" / "compile_commands.json").write_text(json.dumps([
        {"directory": str(folder), "file": name,
         "arguments": ["c++", *site["torch_flags"], "-include-pch", site["pch"], "-c", name]}
        for name in sorted(str(path.relative_to(folder)) for path in folder.rglob("*.cpp"))]))
    programs = folder / "programs"
    programs.mkdir()
    (programs / "torch-tidy").symlink_to(site["torch_tidy"])
    (programs / "clang-tidy-19").symlink_to(site["clang_tidy"])
    return dict(os.environ, LC_ALL="C.UTF-8",
                PATH=f"{programs}{os.pathsep}{os.environ['PATH']}")


def replay(session: str, folder: Path, environment: dict[str, str]) -> str:
    """The session as it looks today. Commands see the files that those before left."""
    result = []
    for command in re.findall(r"^\$ (.*(?:\\\n.*)*)$", session, re.M):
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        text = done.stdout.replace(str(folder) + "/", "")
        lines = [line.rstrip() for line in text.splitlines()]
        result.append("\n".join(["$ " + command, *lines]) + "\n")
    return "".join(result)


def with_sessions(text: str, sessions: list[str]) -> str:
    """The page's text with these in place of its sessions."""
    remaining = iter(sessions)
    return BLOCK.sub(lambda _: next(remaining), text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--site", required=True, type=Path)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("pages", nargs="+", type=Path)
    arguments = parser.parse_args()
    site = json.loads(arguments.site.read_text())
    folder = arguments.work.resolve()

    sessions = problems = 0
    for page in arguments.pages:
        environment = prepare(folder, site)
        text = page.read_text()
        blocks = BLOCK.findall(text)
        today = [replay(block, folder, environment) for block in blocks]
        sessions += len(blocks)
        if arguments.update:
            page.write_text(with_sessions(text, today))
            continue
        for block, now in zip(blocks, today):
            if block == now:
                continue
            problems += 1
            print(f"{page}: a session has changed (sessions.py --update writes it anew)\n"
                  + "".join(difflib.unified_diff(block.splitlines(True),
                                                 now.splitlines(True), "page", "today")))
    if not sessions:
        problems += 1
        print("there are no sessions in these pages")
    print(f"{sessions} sessions, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
