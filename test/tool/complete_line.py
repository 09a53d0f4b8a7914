#!/usr/bin/env python3
"""Types lines into a shell on a terminal that has the completions of a folder, presses Tab,
and prints for each what the shell completes or lists.

    complete_line.py bash|zsh FOLDER LINE...
"""

import os
import pty
import re
import select
import subprocess
import sys
import time

PROMPT = "ready> "
# Written so that what the terminal echoes is not taken for the prompt.
SET_PROMPT = "PS1='rea''dy> '"


def read(terminal: int, seconds: float, until: str = "") -> str:
    """What comes, until there is that, or nothing for a while."""
    text, limit = "", time.monotonic() + 60
    while time.monotonic() < limit:
        if select.select([terminal], [], [], seconds)[0]:
            text += os.read(terminal, 65536).decode(errors="replace")
            if until and until in text:
                break
        elif not until:
            break
    return text


def main() -> None:
    name, folder, *lines = sys.argv[1:]
    command, setup = {
        "bash": (["bash", "--norc", "--noprofile", "-i"],
                 f"bind 'set bell-style none'; bind 'set show-all-if-ambiguous on'; "
                 f"bind 'set enable-bracketed-paste off'; cd {folder}; source ./bash.sh; "
                 f"{SET_PROMPT}\n"),
        "zsh": (["zsh", "-f"],
                f"fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -D; "
                f"setopt no_beep; {SET_PROMPT}; unsetopt zle_bracketed_paste\n")}[name]
    ours, theirs = pty.openpty()
    shell = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        env={**os.environ, "TERM": "dumb", "ZDOTDIR": folder, "HOME": folder, "INPUTRC": os.devnull,
             "PATH": f"{folder}/bin:{os.environ['PATH']}"})
    os.close(theirs)
    read(ours, 1)
    os.write(ours, setup.encode())
    read(ours, 2, PROMPT)
    read(ours, 1)
    for line in lines:
        os.write(ours, line.encode())
        read(ours, 0.5)
        os.write(ours, b"\t")
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x07", "", read(ours, 2))
        listed = [each.strip() for each in text.replace("\r", "\n").split("\n")
                  if each.strip() and PROMPT.strip() not in each]
        print(listed[0] if listed and listed[0] != line else line + text.strip())
        os.write(ours, b"\x03")
        read(ours, 1)
    shell.kill()


if __name__ == "__main__":
    main()
