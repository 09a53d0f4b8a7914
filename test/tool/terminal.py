#!/usr/bin/env python3
"""Runs a command as a terminal does, and prints what it writes there.

    terminal.py [--interrupt TEXT [--signal NAME]] [--columns N] [--output] -- COMMAND...

Standard error is a terminal; standard output goes where this script's goes, or with --output
to the terminal too. Each line that is written over another is printed as a line of its own.
With --interrupt the signal (default INT, Ctrl-C) goes to all processes of the command once
TEXT has been written.
Says "exit code N", and "left behind" when a process of the command has outlived it.
"""

import argparse
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--interrupt", metavar="TEXT")
    parser.add_argument("--signal", default="INT")
    parser.add_argument("--only", action="store_true",
                        help="the signal goes to the command's first process only")
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--output", action="store_true", help="standard output too is a terminal")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, arguments.columns, 0, 0))
    process = subprocess.Popen(arguments.command, stderr=theirs, start_new_session=True,
                               stdout=theirs if arguments.output else None,
                               env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    seen, is_sent, limit = b"", False, time.monotonic() + 300
    while time.monotonic() < limit:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the last process has closed it
            break
        if not part:
            break
        seen += part
        if arguments.interrupt and not is_sent and arguments.interrupt.encode() in seen:
            is_sent = True
            number = getattr(signal, "SIG" + arguments.signal)
            if arguments.only:
                process.send_signal(number)
            else:
                os.killpg(process.pid, number)
    else:
        os.killpg(process.pid, signal.SIGKILL)
        print("still running after 300 s")
    code = process.wait()
    try:
        os.killpg(process.pid, signal.SIGKILL)
        print("left behind")
    except ProcessLookupError:
        pass
    for line in re.split(r"\r\n|\n|\r", seen.decode(errors="replace")):
        if line:
            print(line.replace("\x1b", "<ESC>"))
    print(f"exit code {code}")


if __name__ == "__main__":
    main()
