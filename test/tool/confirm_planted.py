"""Findings that are wrong, planted on healthy lines, as torch-tidy would write
them, and the verdicts that a run has to give."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple


# A line is given by a pattern of which the source has exactly one match. Iterations
# are counted by a site, where one is given, else by the statement itself. The kind is
# the usual one of the check, where none is given.
class Planted(NamedTuple):
    check: str
    file: str
    statement: str
    verdict: str
    loop: str = ""
    site: str = ""
    kind: str = ""



R, U = "REFUTED", "NOT MEASURABLE HERE"
GRAPH, STATE = "torch-retained-graph", "torch-undetached-hidden-state"
CLEAR, GUARD = "torch-missing-zero-grad", "torch-missing-no-grad"
ALLOCATION, COPY = "torch-allocation-in-loop", "torch-repeated-transfer"
KINDS = {GRAPH: "grows", STATE: "throws", CLEAR: "never-cleared", GUARD: "unused-graph",
         ALLOCATION: "same-shape", COPY: "moves"}
TRAINER, EPOCH = "charlm/trainer.cpp", r"for \(const auto& chunk : .*\) \{\n    auto loss"
FORWARD = r"model_->forward\(chunk"
BATCHES = r"for \(auto& batch : loader\)"

EXAMPLE = [
    # Beside `losses_.push_back(loss)`, which leaks in the same loop.
    Planted(GRAPH, TRAINER, r"state = detach\(state\);", R, EPOCH, FORWARD),
    Planted(GRAPH, TRAINER, r"\(loss / options_", R, EPOCH, FORWARD),
    Planted(GRAPH, TRAINER, r"total \+= loss\.item", R, EPOCH, FORWARD),
    Planted(CLEAR, TRAINER, r"optimizer_\.step\(\);", R, EPOCH),
    Planted(GUARD, TRAINER, r"auto loss = loss_on", R, EPOCH),
    # Under a guard; and kept for the backward() after the loop.
    Planted(GRAPH, TRAINER, r"(?s)no_grad;\n  model_.*?(losses\.push_back\(loss_on)", R),
    Planted(GUARD, TRAINER, r"(?s)no_grad;\n  model_.*?(losses\.push_back\(loss_on)", R),
    Planted(GRAPH, TRAINER, r"(?s)each pass is.*?(losses\.push_back\(loss_on)", R),
    # Its condition ran, which is the same line.
    Planted(ALLOCATION, TRAINER, r"return torch::empty\(\{0\}\)", U),
    # Beside `total += loss`.
    Planted(GRAPH, "vision/train.h", r"images = images \+ noise;", R, BATCHES),
    Planted(ALLOCATION, "vision/train.h", r"images = images \+ noise;", R, BATCHES),
    Planted(ALLOCATION, "vision/train.h", r"noise\.normal_", R, BATCHES),
    Planted(COPY, "vision/train.h", r"noise\.normal_", R, BATCHES),
    Planted(CLEAR, "vision/train.h", r"optimizer\.step\(\);", R, BATCHES),
    Planted(GUARD, "vision/train.h", r"outputs\.push_back\(net->forward", R),
    Planted(GUARD, "vision/train.h", r"net->forward\(images\), labels\)", R),
    Planted(COPY, "vision/train.h", r"output\.argmax\(1\)\.eq\(labels\)\.sum", R),
    Planted(GRAPH, "server/server.cpp", r"net_->forward\(input\)", R),
    Planted(CLEAR, "server/main.cpp", r"optimizer\.step\(\);", R),
    Planted(COPY, "server/server.cpp", r"torch::stack\(rows\) \* scale", R),
]

# The corrected statements of the twin: what was true is not any more.
TWIN = [
    Planted(GRAPH, TRAINER, r"losses_\.push_back", R, EPOCH, FORWARD),
    Planted(CLEAR, TRAINER, r"tuner\.step\(\);", R),
    Planted(STATE, "charlm/sampler.cpp", r"std::tie\(logits, state_\)", R),
    Planted(CLEAR, "vision/main.cpp", r"optimizer\.step\(\);", R),
    Planted(COPY, "vision/train.h", r"class_weights\.to", U),
    Planted(ALLOCATION, "vision/train.h", r"auto noise = torch::empty", U),
    Planted(GRAPH, "vision/train.h", r"total \+= loss", R, BATCHES,
            r"auto output = net->forward\(images"),
    Planted(GUARD, "vision/train.h", r"auto output = net->forward\(batch", R),
    Planted(COPY, "server/server.cpp", r"scale_\.to", U, kind="converts"),
    Planted(GUARD, "server/server.cpp", r"net_->forward\(input\)", R),
]


def line_of(text: str, pattern: str, where: object) -> int:
    matches = list(re.finditer(pattern, text, re.I))
    if len(matches) != 1:
        raise SystemExit(f"{where}: {len(matches)} matches of {pattern}")
    start = matches[0].start(1 if matches[0].re.groups else 0)
    return text.count("\n", 0, start) + 1


def block_end(text: str, first: int) -> int:
    """The line of the brace that closes the block which begins in this line."""
    lines = text.splitlines()
    line = lines[first - 1]
    indent = line[:len(line) - len(line.lstrip(" "))]
    return next(number for number, line in enumerate(lines[first:], first + 1)
                if line == indent + "}")


def sarif(root: Path, all_planted: list[Planted], evidence: dict[str, str]) -> str:
    """A SARIF file of them; evidence: {check: measure}."""
    results = []
    for planted in all_planted:
        path = root / planted.file
        text = path.read_text()

        def place(first: int, last: int | None = None, path: Path = path) -> dict[str, Any]:
            region = {"startLine": first}
            if last:
                region["endLine"] = last
            return {"physicalLocation": {"artifactLocation": {"uri": path.as_uri()},
                                         "region": region}}

        own: dict[str, Any] = {"evidence": evidence[planted.check],
                               "kind": planted.kind or KINDS[planted.check]}
        if planted.loop:
            first = line_of(text, planted.loop, path)
            own["loop"] = place(first, block_end(text, first))
        if planted.site:
            own["iterationSite"] = place(line_of(text, planted.site, path))
        results.append({"ruleId": planted.check, "message": {"text": "planted"},
                        "locations": [place(line_of(text, planted.statement, path))],
                        "properties": {"torchTidy": own}})
    return json.dumps({"version": "2.1.0", "runs": [
        {"tool": {"driver": {"name": "planted"}}, "results": results}]})


def measures() -> dict[str, str]:
    text = (Path(__file__).resolve().parents[2] / "checks" / "Checks.def").read_text()
    return dict(re.findall(r'^CHECK\("([\w-]+)".*"([\w-]+)"\)', text, re.M))
