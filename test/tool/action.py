#!/usr/bin/env python3
"""Runs the steps of the action in action.yml that are shell scripts, as a runner does:
inputs have their defaults unless given, and each step sees the path that those before it
have extended.

    action.py ACTION.YML [INPUT=VALUE...]
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from ruamel.yaml import YAML


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("action", type=Path)
    parser.add_argument("inputs", nargs="*", metavar="INPUT=VALUE")
    arguments = parser.parse_args()
    action = YAML(typ="safe").load(arguments.action.read_text(encoding="utf-8"))
    inputs = {name: entry["default"] for name, entry in action["inputs"].items()}
    for word in arguments.inputs:
        name, _, value = word.partition("=")
        if name not in inputs:
            sys.exit(f"the action has no input '{name}'")
        inputs[name] = value

    with tempfile.TemporaryDirectory() as folder:
        added = Path(folder, "path")
        added.touch()
        environment = dict(os.environ, RUNNER_TEMP=folder, GITHUB_PATH=str(added))
        for step in action["runs"]["steps"]:
            if step.get("if") == "inputs.install != 'no'" and inputs["install"] == "no":
                print(f"(skipped: {step['name']})", flush=True)
                continue
            own = {name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}",
                                lambda match: inputs[match[1]], text)
                   for name, text in step["env"].items()}
            path = [*reversed(added.read_text().split("\n")[:-1]), environment["PATH"]]
            # The shell "bash" of a runner.
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                env={**environment, **own, "PATH": os.pathsep.join(path)}, check=False)
            if done.returncode:
                sys.exit(done.returncode)


if __name__ == "__main__":
    main()
