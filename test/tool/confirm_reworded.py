#!/usr/bin/env python3
"""Judges findings before and after all their words were replaced: the verdicts must be
the same, for they follow from kinds and roles.

    confirm_reworded.py WORK --torch-confirm FILE --recording FILE FINDINGS...

FINDINGS are SARIF of torch-tidy. Of each a recording is made in which the kind of a
finding decides: two graphs at once are a graph too many and no growth, one backward()
throws, and nothing is copied without a device. --recording is a real one, whose
properties the made ones have.
"""

import argparse
import copy
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HITS = 100
# The words by which verdicts were once decided, all at once.
OLD_WORDS = ("this one has freed and throws, keeps one extra autograd graph, converts, the "
             "graph is built here, in every iteration of this loop")


def text_objects(value: Any) -> Iterator[dict[str, Any]]:
    """All objects of a SARIF file that hold words for people."""
    if isinstance(value, dict):
        if isinstance(value.get("text"), str):
            yield value
        for each in value.values():
            yield from text_objects(each)
    elif isinstance(value, list):
        for each in value:
            yield from text_objects(each)


def results(log: dict[str, Any]) -> list[dict[str, Any]]:
    return [result for run in log["runs"] for result in run["results"]]


def reworded(log: dict[str, Any], word: Callable[[int, str], str]) -> dict[str, Any]:
    """A copy in which word(number, old) has replaced each text of results and notes."""
    log = copy.deepcopy(log)
    for number, each in enumerate(text_objects(results(log))):
        each["text"] = word(number, each["text"])
        each.pop("markdown", None)
    return log


def without_kinds(log: dict[str, Any]) -> dict[str, Any]:
    log = copy.deepcopy(log)
    for result in results(log):
        del result["properties"]["torchTidy"]["kind"]
    return log


def place(log: dict[str, Any], location: dict[str, Any]) -> tuple[str, int]:
    physical = location["physicalLocation"]
    artifact = physical["artifactLocation"]
    base = artifact.get("uriBaseId")
    bases = log["runs"][0].get("originalUriBaseIds", {})
    uri = bases.get(base, {"uri": ""})["uri"] + artifact["uri"]
    # A committed file has no folder of its own.
    return str(Path(uri.removeprefix("file://")).absolute()), physical["region"]["startLine"]


def recording_of(log: dict[str, Any], like: dict[str, Any]) -> dict[str, Any]:
    """A run of all findings, each in a function of its own."""
    sites: list[dict[str, Any]] = []

    def site(number: int, operation: str, location: dict[str, Any], **counts: Any) -> None:
        file, line = place(log, location)
        sites.append({"operation": operation, "hits": HITS, "mostNodesAlive": 0,
                      "stack": [{"file": file, "line": line,
                                 "function": f"finding {number}"}], **counts})

    for number, result in enumerate(results(log)):
        own = result["properties"]["torchTidy"]
        here = result["locations"][0]
        if own["evidence"] == "graph-nodes-per-iteration":
            built = own.get("iterationSite", here)
            site(number, "aten::mm", built, nodesMade=4 * HITS, nodesRun=4 * HITS,
                 nodesRunOnce=4 * HITS, nodesRunGone=4 * HITS, mostNodesAlive=8)
            site(number, "backward", built, exceptions=1, thrown=[
                {"type": "c10::Error", "count": 1,
                 "message": "Trying to backward through the graph a second time"}])
        elif own["evidence"] == "copies-per-iteration":
            site(number, "aten::to", here, askedAgain=HITS - 1)
        else:
            site(number, "aten::mul", here, nodesMade=HITS, nodesRun=HITS, mostNodesAlive=1,
                 stretches=[{"count": HITS, "nodesMade": HITS, "nodesRun": HITS}])
    made = dict(like, sites=sites)
    made["capabilities"] = dict(like["capabilities"], copies={"available": True},
                                exceptions={"available": True})
    return made


class Judge:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.program, self.work, self.failed = arguments.torch_confirm, arguments.work, 0

    def judge(self, findings: dict[str, Any] | str,
              recording: dict[str, Any]) -> list[dict[str, Any]]:
        """The verdicts, without the messages; findings: SARIF as an object, or a text."""
        given = self.work / "findings"
        given.write_text(findings if isinstance(findings, str) else json.dumps(findings))
        (self.work / "recording.json").write_text(json.dumps(recording))
        run = subprocess.run(
            [self.program, "judge", "--findings", given, "--recording",
             self.work / "recording.json", "--json", self.work / "verdicts.json", "--output",
             self.work / "report"], text=True, capture_output=True)
        if run.returncode != 0:
            sys.exit(f"error: torch-confirm ends with {run.returncode}: {run.stderr}")
        verdicts = json.loads((self.work / "verdicts.json").read_text())["findings"]
        for verdict in verdicts:
            del verdict["message"]
        return verdicts

    def same(self, what: str, got: list[dict[str, Any]],
             expected: list[dict[str, Any]]) -> None:
        differ = [pair for pair in zip(got, expected) if pair[0] != pair[1]]
        ok = len(got) == len(expected) and not differ
        self.failed += not ok
        print(f"{'ok' if ok else 'FAILED'}: {what}: {len(expected)} verdicts are the same")
        for now, before in differ:
            print(f"    {before}\n    became {now}")


def test(judge: Judge, file: Path, like: dict[str, Any]) -> None:
    log = json.loads(file.read_text())
    recording = recording_of(log, like)
    before = judge.judge(log, recording)
    kinds = {(result["ruleId"], *place(log, result["locations"][0])):
             result["properties"]["torchTidy"]["kind"] for result in results(log)}
    for each in before:
        kind = kinds[each["check"], each["file"], each["line"]]
        print(f"{file.name}: {each['check']} {kind}: {each['verdict']}")
    texts = [each["text"] for each in text_objects(results(log))]
    for what, word in [
            ("other words", lambda number, old: f"words {number}"),
            ("the words of others", lambda number, old: texts[(number + 3) % len(texts)]),
            ("all the old words", lambda number, old: OLD_WORDS),
            ("no words", lambda number, old: "")]:
        judge.same(f"{file.name}, {what}", judge.judge(reworded(log, word), recording), before)
    open_ = judge.judge(without_kinds(log), recording)
    changed = {each["check"] for each in open_ if each["verdict"] not in
               {other["verdict"] for other in before if other["check"] == each["check"]
                and other["line"] == each["line"]}}
    print(f"{file.name}: without kinds: {', '.join(sorted(changed)) or 'nothing'} changed")


def measured(judge: Judge, recording: dict[str, Any]) -> None:
    """What was seen: a graph too many, worded in two ways, in three formats."""
    recording = copy.deepcopy(recording)
    site = next(each for each in recording["sites"] if each["operation"] == "aten::mul")
    site["mostNodesAlive"] = 2
    file, line = site["stack"][0]["file"], site["stack"][0]["line"]
    for words in ["keeps one extra autograd graph alive until it is overwritten",
                  "keeps an additional autograd graph alive until it is overwritten"]:
        for kind in ["overwrites", "grows", None]:
            own = {"evidence": "graph-nodes-per-iteration"} | ({"kind": kind} if kind else {})
            log = {"version": "2.1.0", "runs": [{"results": [{
                "ruleId": "torch-retained-graph", "message": {"text": words},
                "locations": [{"physicalLocation": {
                    "artifactLocation": {"uri": f"file://{file}"},
                    "region": {"startLine": line}}}],
                "properties": {"torchTidy": own}}]}]}
            (verdict,) = judge.judge(log, recording)
            print(f"<{words.split()[1]}> {kind}: {verdict['verdict']}")
        (verdict,) = judge.judge(
            f"{file}:{line}:5: warning: {words} [torch-retained-graph]\n", recording)
        print(f"<{words.split()[1]}> as text: {verdict['verdict']}: {verdict['sentence']}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("findings", type=Path, nargs="+")
    parser.add_argument("--torch-confirm", required=True)
    parser.add_argument("--recording", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    recording = json.loads(arguments.recording.read_text())
    judge = Judge(arguments)
    measured(judge, recording)
    for file in arguments.findings:
        test(judge, file, recording)
    print(f"{judge.failed} failed")
    return 1 if judge.failed else 0


if __name__ == "__main__":
    sys.exit(main())
