#!/usr/bin/env python3
"""What `torch-confirm report` reads and writes: each option's file, and what is told before the
program of Inputs/confirm/report runs, which report_ends.py builds.

    report_files.py files|refused WORK --torch-confirm FILE --cache-dir FOLDER
"""

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
from report_ends import HEAD, Test, kept, line, main  # noqa: E402


def check_files(test: Test, folder: Path, has_page: bool) -> None:
    """All of them are what they should be; others look closer at each."""
    report = json.loads((folder / "report.json").read_text())
    headline = report["headline"]
    test.check("--json", line("kept") in headline, headline)
    # A layer that was asked for its parameters before it had gradients; SGD with momentum.
    layer = report["modules"][0]
    test.check("modules", 0 < layer["parameterBytes"] == layer["gradientBytes"]
               == layer["optimizerBytes"], report["modules"])
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    test.check("--trace", any(each["name"] == "aten::mul" for each in events), len(events))
    snapshot = pickle.loads((folder / "snapshot.pickle").read_bytes())
    test.check("--snapshot", bool(snapshot["device_traces"]), snapshot.keys())
    results = json.loads((folder / "report.sarif").read_text())["runs"][0]["results"]
    region = results[0]["locations"][0]["physicalLocation"]["region"]
    test.check("--sarif", f"train.cpp:{region['startLine']}" == line("kept"), results)
    if has_page:
        page = (folder / "report.html").read_text()
        test.check("--html", page.lower().startswith("<!doctype html>") and headline in page,
                   page[:200])
    test.check("nothing else is left", not list(folder.glob("*.new*")), os.listdir(folder))


def files(test: Test) -> None:
    """Each option writes its file, from a run and from its recording."""
    has_page = (Path(test.confirm[0]).parents[1] / "share" / "torch-confirm" /
                "page-libraries" / "libraries.js").exists()
    names = {"--json": "report.json", "--trace": "trace.json", "--snapshot": "snapshot.pickle",
             "--sarif": "report.sarif", **({"--html": "report.html"} if has_page else {})}
    if not has_page:
        run = test.run(test.train, "grow", options=["--html", "report.html"])
        test.check("no page in this build is told before", run.returncode == 2
                   and "has no HTML page" in run.stderr and not run.stdout, run)
    texts = []
    for folder, more in [("run", ["--recording", "kept.json"]),
                         ("again", ["--from", "../run/kept.json"])]:
        (test.scratch / folder).mkdir()
        options = [*more, *(word for pair in names.items() for word in pair)]
        words = test.command(test.train, "grow", options=options)
        run = subprocess.run(words if folder == "run" else words[:-3], capture_output=True,
                             text=True, cwd=test.scratch / folder)
        test.check(f"{folder}: code", run.returncode == 0, run)
        texts.append(run.stderr)
        check_files(test, test.scratch / folder, has_page)
    test.check("--from gives the same report", texts[0] == texts[1] != "", texts)
    for name in names.values():
        test.check(f"--from gives the same {name}", *[
            # SARIF says from which folder its names count.
            (test.scratch / "run" / name).read_text("latin1") == (
                test.scratch / "again" / name).read_text("latin1").replace(
                    f"file://{test.scratch}/again/", f"file://{test.scratch}/run/")])
    recording = test.scratch / "run" / "kept.json"
    run = subprocess.run([*test.confirm, "--from", recording, "--fail-on-growth", "1KiB"],
                         capture_output=True, text=True)
    test.check("--from, --fail-on-growth", run.returncode == 1, run)
    # Of a program that has died, and of one that has done nothing.
    for words in [["grow", "killed"], ["nothing"]]:
        run = test.run(test.train, *words, options=["--recording", recording])
        again = subprocess.run([*test.confirm, "--from", recording], capture_output=True,
                               text=True, cwd=test.scratch)
        test.check(f"--from, {' '.join(words)}", again.returncode == 0 and HEAD in again.stderr
                   and again.stderr == run.stderr, (run, again))
    shown(test)
    devices(test)
    unread(test)
    lost(test)


def devices(test: Test) -> None:
    """How long a device waits, as a library says that stands in for NVIDIA's."""
    for where, used in [("host", True), ("container", False)]:
        environment = {**os.environ, "LD_LIBRARY_PATH": str(test.build / "nvml"),
                       "NVML_FAKE": where}
        run = test.run(test.train, "serve", options=["--json", "devices.json", "--recording",
                                                     "devices.rec"], env=environment)
        recorded = json.loads((test.scratch / "devices.rec").read_text())["devices"]
        told = json.loads((test.scratch / "devices.json").read_text())["devices"]
        test.check(f"devices, {where}: sampled", recorded[0]["seconds"] > 0
                   and abs(recorded[0]["share"] - 0.25) < 1e-6
                   and recorded[0].get("used", False) == used, recorded)
        # Nothing says that this program, which has no device, has used the only one.
        test.check(f"devices, {where}: told", [each["name"] for each in told]
                   == ["Fake 0"] * used, told)
        test.check(f"devices, {where}: in words", used == (
            "device 0 ran no kernel for 75 % of " in run.stderr), run.stderr)


def shown(test: Test) -> None:
    run = test.run(test.train, "grow", options=["--json=/dev/stdout", "--color=always"])
    output, _, report = run.stdout.partition("\n")
    test.check("--json=/dev/stdout", output.startswith("loss")
               and json.loads(report)["format"] == "torch-confirm report", run)
    test.check("--color=always", "\033[1mWHY" in run.stderr, run)
    run = test.run(test.train, "grow", options=["--details", "--color=never"])
    test.check("--details", "(itself)" in run.stderr and "\033" not in run.stderr, run)


def unread(test: Test) -> None:
    """Who reads the report goes, as head(1) does; a word that is no UTF-8 is in the files."""
    command = test.command(test.train, "level", "", "100", b"\xff".decode(errors="surrogateescape"),
                           options=["--json", "unread.json", "--recording", "unread.rec",
                                    "--sarif", "unread.sarif"])
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               cwd=test.scratch)
    assert process.stderr
    process.stderr.close()
    code = process.wait(120)
    test.check("nobody reads the text: code", code == 0, code)
    for name in ["unread.json", "unread.rec", "unread.sarif"]:
        there = test.scratch / name
        test.check(f"nobody reads the text: {name}", there.exists()
                   and "train" in there.read_text(), name)


def lost(test: Test) -> None:
    """A file that cannot be written in the end takes nothing else with it."""
    folder = test.scratch / "goes"
    script = test.script("goes.sh", f"{test.train} grow\nrm -r '{folder}'\nexit $1\n")
    for code, ends_with in [(0, 2), (7, 7)]:
        folder.mkdir()
        sarif = test.scratch / f"stays-{code}.sarif"
        run = test.run(script, code, options=["--program", test.train, "--sarif", sarif, "--json",
                                              folder / "report.json"])
        test.check(f"a folder that goes, {code}: code", run.returncode == ends_with, run)
        test.check(f"a folder that goes, {code}: told", "cannot write" in run.stderr
                   and "goes/report.json" in run.stderr, run)
        test.check_report(f"a folder that goes, {code}", run, kept())
        test.check(f"a folder that goes, {code}: another file", sarif.exists())


def refused(test: Test) -> None:
    """One line says what is wrong, and nothing runs."""
    train = [test.train, "grow"]
    sealed, word, plain = (test.scratch / name for name in ["folder", "word.txt", "plain.json"])
    sealed.mkdir()
    word.write_text("no recording\n")
    shutil.copy(HERE / "Inputs" / "confirm" / "recording.json", plain)
    for options, words, message in [
            ([], [], "say which program is to run"),
            ([], ["/no/such/program"], "'/no/such/program'"),
            ([], [word], "word.txt"),
            ([], ["/bin/sh"], "LibTorch"),
            (["--from", word], [], "word.txt"),
            (["--from", "/no/such/file"], [], "/no/such/file"),
            (["--from", sealed], [], "it is a folder"),
            (["--from", plain], [], "has no timeline"),
            (["--from", plain], train, "--from reports on a recording, and runs no program"),
            (["--json", "/no/such/folder/r.json"], train,
             "cannot write '/no/such/folder/r.json': No such file"),
            (["--trace", sealed], train, "folder': it is a folder"),
            (["--recording", "/proc/none.json"], train, "cannot write '/proc/none.json'"),
            (["--json=same.json", "--sarif=same.json"], train,
             "two files are to be written to 'same.json'"),
            (["--fail-on-growth", "much"], train, "--fail-on-growth takes a number of bytes"),
            (["--fail-on-growth=-1KiB"], train, "--fail-on-growth takes a number of bytes"),
            (["--fail-on-growth=1Mbit"], train, "'1Mbit' is none"),
            (["--color=pink"], train, "--color: pink not in {auto,always,never}"),
            (["--timeout=soon"], train, "--timeout='soon' is no number of seconds"),
            (["--nonsense"], train, "--nonsense"),
            (["--libtorch", sealed], train, "is no LibTorch"),
            (["--program", "/no/such/program"], train, "'/no/such/program'")]:
        run = test.run(*words, options=options)
        lines = run.stderr.splitlines()
        test.check(f"refused: {' '.join(map(str, options or words))}: {message}",
                   run.returncode == 2 and len(lines) == 1 and message in lines[0]
                   and lines[0].startswith("torch-confirm: error: ") and not run.stdout, run)
    left = {path.name for path in test.scratch.iterdir()} - {"folder", "word.txt", "plain.json"}
    test.check("nothing is left", not left, left)
    bare = test.scratch / "bare"
    shutil.copy(test.train, bare)
    subprocess.run(["strip", "-g", bare], check=True)
    run = test.run(bare, "grow")
    test.check("refused: no line numbers", run.returncode == 2 and not run.stdout
               and "has no line numbers" in run.stderr, run)
    # What was there before stays as it was.
    run = test.run("/no/such/program", options=["--json", word])
    test.check("a file that is there stays", word.read_text() == "no recording\n", run)


if __name__ == "__main__":
    main(__doc__, files=files, refused=refused)
