"""How far a long run is: one line that changes on a terminal, plain lines elsewhere."""

import shutil
import sys
import threading
from typing import Self, TextIO


class Progress:
    def __init__(self, total: int, verb: str, stream: TextIO = sys.stderr) -> None:
        self.total, self.verb, self.stream = total, verb, stream
        self.done = 0
        self.lock = threading.Lock()
        self.terminal = stream.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.terminal and self.total:
            self.stream.write("\r\033[K")
            self.stream.flush()

    def step(self, name: str, remark: str = "") -> None:
        with self.lock:
            self.done += 1
            line = f"[{self.done}/{self.total}] {self.verb} {name}"
            if remark:
                line += f": {remark}"
            if self.terminal:
                width = max(shutil.get_terminal_size().columns - 1, 20)
                self.stream.write("\r\033[K" + line[:width])
            else:
                self.stream.write(line + "\n")
            self.stream.flush()
