"""Runs a command as the foreground job of a shell at a terminal.

The shell is a process of ours: it leads the session, gives the terminal to the job, and
when the job is stopped says so and lets it go on.
"""

import os
import pty
import select
import signal
import time


def lead(command: list[str]) -> None:
    """In the session's first process; never returns."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        # A shell starts what runs in the background with SIGINT and SIGQUIT ignored.
        for each in [signal.SIGINT, signal.SIGQUIT, signal.SIGTTOU, signal.SIGPIPE]:
            signal.signal(each, signal.SIG_DFL)
        os.execvp(command[0], command)
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        os.tcsetpgrp(0, os.getpgrp())
        if not os.WIFSTOPPED(status):
            os.write(1, f"[ends with {os.waitstatus_to_exitcode(status)}]\n".encode())
            os._exit(0)
        os.write(1, f"[stopped by {os.WSTOPSIG(status)}]\n[goes on]\n".encode())
        os.tcsetpgrp(0, job)
        os.killpg(job, signal.SIGCONT)


def run(command: list[str], keys: list[tuple[str, str]], limit: float = 60) -> str:
    """What the terminal shows. Of \\p keys each is pressed when its text has been shown behind
    that of the one before."""
    process, ours = pty.fork()
    if process == 0:
        lead(command)
    shown, seen, waiting = "", 0, list(keys)
    end = time.monotonic() + limit
    while (left := end - time.monotonic()) > 0:
        if not select.select([ours], [], [], left)[0]:
            break
        try:
            part = os.read(ours, 65536)
        except OSError:  # nobody has it open any more
            break
        if not part:
            break
        shown += part.decode()
        while waiting and waiting[0][0] in shown[seen:]:
            seen = shown.index(waiting[0][0], seen) + len(waiting[0][0])
            # What is typed in the moment of a change may meet the one before.
            time.sleep(0.2)
            os.write(ours, waiting.pop(0)[1].encode())
    os.kill(process, signal.SIGKILL)
    os.close(ours)  # whoever is left is told
    os.waitpid(process, 0)
    return shown
