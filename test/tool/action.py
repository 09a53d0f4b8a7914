#!/usr/bin/env python3
"""Runs the steps of the action in action.yml that are shell scripts, as a runner does:
inputs have their defaults unless given, and each step sees the path that those before it
have extended. The server that it downloads from is a folder here.

    action.py ACTION.YML [--github NAME=VALUE]... [--releases FOLDER] [INPUT=VALUE...]
"""

import argparse
import functools
import http.server
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from ruamel.yaml import YAML


def serve(folder: Path) -> str:
    """Serves the folder on this machine until the program ends; the address."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("action", type=Path)
    parser.add_argument("--github", action="append", default=[], metavar="NAME=VALUE",
                        help="of the context 'github': action_repository, action_ref")
    parser.add_argument("--releases", type=Path, metavar="FOLDER",
                        help="what lies on the server, as OWNER/NAME/releases/download/TAG/FILE")
    parser.add_argument("inputs", nargs="*", metavar="INPUT=VALUE")
    arguments = parser.parse_intermixed_args()
    action = YAML(typ="safe").load(arguments.action.read_text(encoding="utf-8"))
    # Empty where a workflow names the action by a folder.
    contexts = {"github": {"action_repository": "", "action_ref": ""}}
    contexts["github"].update(word.split("=", 1) for word in arguments.github)
    inputs = {name: entry["default"] for name, entry in action["inputs"].items()}
    for word in arguments.inputs:
        name, _, value = word.partition("=")
        if name not in inputs:
            sys.exit(f"the action has no input '{name}'")
        inputs[name] = value
    contexts["inputs"] = inputs

    with tempfile.TemporaryDirectory() as folder:
        added = Path(folder, "path")
        added.touch()
        environment = dict(os.environ, RUNNER_TEMP=folder, GITHUB_PATH=str(added),
                           GITHUB_ACTION_PATH=str(arguments.action.resolve().parent))
        if arguments.releases:
            environment["GITHUB_SERVER_URL"] = serve(arguments.releases)
        for step in action["runs"]["steps"]:
            if step.get("if") == "inputs.install != 'no'" and inputs["install"] == "no":
                print(f"(skipped: {step['name']})", flush=True)
                continue
            own = {name: re.sub(r"\$\{\{ (\w+)\.([\w-]+) \}\}",
                                lambda match: contexts[match[1]][match[2]], text)
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
