#!/usr/bin/env python3
"""Replays what docs/ci.md says of CodeChecker, with the real one: its commands analyse a project,
first as it comes, then with the severities that the page puts into its list.

usage: codechecker.py PAGE CODECHECKER TORCH_TIDY WORK FLAG...

PAGE is docs/ci.md, CODECHECKER the virtual environment it is installed in, WORK a new folder, FLAG
what the compiler needs for LibTorch.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

# A finding of each level, in the words of the page at line 8.
SOURCE = """\
#include <torch/torch.h>

void train(torch::nn::Linear net, torch::optim::SGD &optimizer, torch::Tensor input) {
  for (int i = 0; i < 9; ++i) {
    torch::Tensor result = net->forward(input);
    torch::Tensor loss = result.sum();
    loss.backward();
    optimizer.step();
  }
}

void slowly(torch::nn::Linear net, torch::optim::SGD &optimizer, torch::Tensor input) {
  for (int i = 0; i < 9; ++i) {
    optimizer.zero_grad(/*set_to_none=*/false);
    net->forward(input).sum().backward();
    optimizer.step();
  }
}

double evaluate(torch::nn::Linear net, torch::Tensor input) {
  net->eval();
  return net->forward(input).sum().item<double>();
}
"""


def sessions(page: str) -> list[str]:
    """What a reader types, of each block of the section: without `$ ` and without the output."""
    section = page.split("## CodeChecker")[1].split("\n## ")[0]
    scripts = []
    for block in re.findall(r"```console\n(.*?)```", section, re.S):
        lines: list[str] = []
        quoted = False
        for line in block.splitlines():
            if line.startswith("$ ") or quoted:
                text = line if quoted else line[2:]
                quoted ^= text.count("'") % 2 == 1
                lines.append(text)
        scripts.append("\n".join(lines))
    return scripts


def main() -> None:
    page, environment, torch_tidy, work = (Path(word).absolute() for word in sys.argv[1:5])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    (work / "train.cpp").write_text(SOURCE)
    command = f"c++ {' '.join(sys.argv[5:])} -c train.cpp"
    (work / "compile_commands.json").write_text(json.dumps(
        [{"directory": str(work), "file": "train.cpp", "command": command}]))
    # The programs of the environment, as its activation has it; a cache that is empty.
    cache = work / "cache"
    variables = dict(os.environ, VIRTUAL_ENV=str(environment), HOME=str(work),
                     XDG_CACHE_HOME=str(cache),
                     PATH=os.pathsep.join([str(environment / "bin"), str(torch_tidy.parent),
                                           os.environ["PATH"]]))
    for name in ["PYTHONPATH", "TORCH_TIDY_CACHE"]:
        variables.pop(name, None)
    labels = next(environment.glob("share/codechecker/config/labels/analyzers/clang-tidy.json"))
    # Not beside it: CodeChecker reads all that lies there.
    kept = environment / "clang-tidy.labels.json"
    if not kept.exists():
        shutil.copy(labels, kept)
    shutil.copy(kept, labels)

    def run(name: str, script: str) -> str:
        began = time.monotonic()
        done = subprocess.run(["bash", "-c", script], cwd=work, env=variables, text=True,
                              capture_output=True, check=False)
        (work / f"{name}.log").write_text(done.stdout + done.stderr)
        # `CodeChecker parse` ends with 2 where it has reports.
        print(f"{name}: ended with {done.returncode} after {time.monotonic() - began:.1f} s",
              file=sys.stderr)
        return done.stdout

    def findings(text: str) -> None:
        for line in text.splitlines():
            if re.match(r"\[\w+\] .*\[torch-[\w-]+\]$", line):
                print(re.sub(r"\] \S*/", "] ", line))

    analyse, severities = sessions(page.read_text(encoding="utf-8"))
    try:
        print("as it comes")
        findings(run("first", analyse))
        print("headers in the cache:", len(list(cache.glob("torch-tidy/headers/**/*.pch"))))
        run("severities", severities)
        print("with severities")
        findings(run("second", analyse.replace("-o reports", "-o again").replace(
            "parse reports", "parse again")))
        print("headers in the cache:", len(list(cache.glob("torch-tidy/headers/**/*.pch"))))
    finally:
        shutil.copy(kept, labels)


if __name__ == "__main__":
    main()
