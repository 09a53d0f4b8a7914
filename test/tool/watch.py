#!/usr/bin/env python3
"""`torch-tidy --watch` on a terminal, as somebody who edits uses it: each edit is analysed, a
header's too, also of one outside of the project, and Ctrl-C ends it.

    watch.py TORCH-TIDY FOLDER -- FLAGS...
"""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

HEADER = """#pragma once
#include <torch/torch.h>
inline void apply(torch::optim::SGD &optimizer) { optimizer.step(); }
"""
OUTSIDE = "inline void finish(torch::optim::SGD &optimizer) {}\n"
SOURCE = """#include "apply.h"
#include "../shared/finish.impl"
void train(torch::nn::Linear net, torch::optim::SGD &optimizer, torch::Tensor input) {
  for (int i = 0; i < 9; ++i) {
    net->forward(input).sum().backward();
    apply(optimizer);
    finish(optimizer);
  }
}
"""
CLEARED = "{ optimizer.step(); optimizer.zero_grad(); }"


class Terminal:
    def __init__(self, command: list[str], folder: Path) -> None:
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(command, cwd=folder, stdin=theirs, stdout=theirs,
                                        stderr=theirs, start_new_session=True,
                                        env={**os.environ, "TERM": "xterm"})
        os.close(theirs)
        self.text = ""

    def until(self, word: str) -> str:
        """What has come up to there, and not before."""
        limit = time.monotonic() + 120
        while word not in self.text:
            if time.monotonic() > limit:
                sys.exit(f"'{word}' did not come: {self.text}")
            if select.select([self.ours], [], [], 1)[0]:
                self.text += os.read(self.ours, 65536).decode(errors="replace")
        before, _, self.text = self.text.partition(word)
        return before


def main() -> None:
    program, place, _, *flags = sys.argv[1:]
    folder = Path(place)
    folder.mkdir(parents=True)
    (folder / ".git").mkdir()
    outside = folder.parent / "shared" / "finish.impl"
    outside.parent.mkdir()
    outside.write_text(OUTSIDE)
    (folder / "apply.h").write_text(HEADER)
    (folder / "train.cpp").write_text(SOURCE)
    (folder / "notes.txt").write_text("")
    terminal = Terminal([program, "--watch", "train.cpp", "--", *flags], folder)
    waiting = "Ctrl-C ends it"
    first = terminal.until(waiting)
    print("found:", "[torch-missing-zero-grad]" in first)
    print("no note on each change:", "--explain" not in first)
    print("files:", "watching 3 files" in first)

    (folder / "notes.txt").write_text("no source")
    (folder / "apply.h").write_text(HEADER.replace("{ optimizer.step(); }", CLEARED))
    print("header:", "/apply.h' has changed" in (second := terminal.until(waiting)))
    print("mended:", "[torch-missing-zero-grad]" not in second)

    (folder / "train.cpp").write_text(SOURCE.replace("apply(", "optimizer.step(); //"))
    print("again:", "[torch-missing-zero-grad]" in terminal.until(waiting))

    outside.write_text(OUTSIDE.replace("{}", "{ optimizer.zero_grad(); }"))
    print("outside:", "/shared/finish.impl' has changed" in (text := terminal.until(waiting)))
    print("mended:", "[torch-missing-zero-grad]" not in text)

    (folder / "kernel.cu").write_text("")
    print("CUDA:", "/kernel.cu' has changed" in terminal.until(waiting))

    os.killpg(terminal.process.pid, signal.SIGINT)
    print("exit code", terminal.process.wait(60))


if __name__ == "__main__":
    main()
