"""Reports as torch-confirm writes them (tool/torch-confirm/export/report.schema.json), of
runs that never were: what a page has to cope with, from 3,000 sites to none.

    report_sample.py FOLDER     writes NAME.json for each of SAMPLES, and the source that
                                the first cause of "growth" names
"""

import json
import math
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]
MIB = 1 << 20
KINDS = ["parameters", "gradients", "optimizer state", "activations", "other"]
PHASES = ["data", "forward", "backward", "step", "evaluation", "other"]
EVIL = "run<std::vector<int>>(const char *) </script><img src=x onerror=alert(1)>"

SOURCE = """\
#include "train.h"

double Trainer::run(Loader &loader) {
  torch::Tensor total = torch::zeros({});
  for (Batch &batch : loader) {
    optimizer.zero_grad();
    torch::Tensor loss = criterion(model->forward(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    total += loss;
    log(loss.item<float>());
  }
  return total.item<double>();
}
"""


def frame(folder: str, file: str, line: int, function: str) -> Json:
    return {"file": f"{folder}/{file}", "line": line, "function": function}


def site(operation: str, phase: str, memory: str, stack: list[Json], shape: str,
         hits: int = 400, **more: Any) -> Json:
    return {"operation": operation, "phase": phase, "memory": memory, "stack": stack,
            "hits": hits, "hitsWithoutGrad": 0, "seconds": 0.8, "otherShapes": 0,
            "shapes": [{"text": shape, "count": hits}], "allocations": hits,
            "allocatedBytes": hits * MIB, "bytesAtEnd": 0, "mostBytes": 3 * MIB,
            "nodesMade": hits, "nodesAtEnd": 0, "mostNodes": 1, "waits": 0, **more}


class Run:
    """A training of so many iterations, of a network of so many layers."""

    def __init__(self, folder: str, layers: int, iterations: int, growth: float,
                 cuda: bool) -> None:
        self.folder, self.iterations, self.growth, self.cuda = folder, iterations, growth, cuda
        self.random = random.Random(layers)
        main = frame(folder, "src/main.cpp", 31, "main(int, char**)")
        self.train = frame(folder, "src/train.cpp", 7, "app::Trainer::run(app::Loader&)")
        self.below = [self.train, main]
        self.leak = frame(folder, "src/train.cpp", 10, "app::Trainer::run(app::Loader&)")
        self.sites: list[Json] = [
            site("aten::add_", "forward", "activations", [self.leak, main], "Float[], Float[]",
                 hits=iterations),
            site("aten::stack", "data", "other", [
                frame(folder, "src/loader.cpp", 88, "app::Loader::next()"),
                frame(folder, "src/train.cpp", 5, "app::Trainer::run(app::Loader&)"), main],
                "Float[3,224,224]", waits=3),
            site("step:Adam", "step", "optimizer state",
                 [frame(folder, "src/train.cpp", 9, "app::Trainer::run(app::Loader&)"), main],
                 "Float[512,512,3,3]"),
            site("backward", "backward", "other",
                 [frame(folder, "src/train.cpp", 8, "app::Trainer::run(app::Loader&)"), main],
                 "Float[]"),
        ]
        self.size = [3 * MIB, 38 * MIB, 0.0, 9 * MIB]
        for layer in range(layers):
            self.add_layer(layer, layers)
        self.sites.append(site("aten::empty", "other", "other", [], "[64]"))
        self.size.append(512.0)

    def add_layer(self, layer: int, layers: int) -> None:
        stage = f"encoder.{layer % 12}"
        block = frame(self.folder, "src/model/block.cpp", 20 + layer,
                      f"app::BlockImpl<{layer % 5}, float>::forward(at::Tensor const&)")
        encoder = frame(self.folder, "src/model/encoder.cpp", 14 + layer % 12,
                        "app::EncoderImpl::forward(at::Tensor)")
        weight = self.random.lognormvariate(13.5, 1.2) * min(1, 40 / layers)
        build = [frame(self.folder, "src/model/block.cpp", 8 + layer % 9,
                       "app::BlockImpl<0, float>::BlockImpl(int)"),
                 frame(self.folder, "src/main.cpp", 24, "main(int, char**)")]
        for operation, phase, memory, stack, factor in [
                ("aten::empty", "other", "parameters", build, 1.0),
                ("backward", "backward", "gradients",
                 [{**self.train, "line": 8}, *self.below[1:]], 1.0),
                ("step:Adam", "step", "optimizer state",
                 [{**self.train, "line": 9}, *self.below[1:]], 2.0),
                (["aten::conv2d", "aten::relu", "aten::batch_norm"][layer % 3], "forward",
                 "activations", [block, encoder, *self.below], 3.0)]:
            self.sites.append(site(operation, phase, memory, stack,
                                   f"Float[32,{16 << layer % 5},56,56] # {stage}"))
            self.size.append(weight * factor)

    def held(self, done: float) -> list[Json]:
        """At so many iterations; the part after the point says where in one."""
        part = done % 1
        alive = {"parameters": 1.0, "other": 1.0,
                 "activations": math.sin(math.pi * min(1, part / 0.9)) ** 2,
                 "gradients": float(done > 0.5) * (0.2 + 0.8 * (part > 0.4)),
                 "optimizer state": float(done >= 1)}
        result = []
        for index, each in enumerate(self.sites):
            value = int(self.size[index] * alive[each["memory"]])
            nodes = int(alive["activations"] * 2) if each["memory"] == "activations" else 0
            if index == 0:
                value, nodes = int(self.growth * done), int(36 * done * (self.growth > 0))
            if value or nodes:
                on = {"cpu": value if index < 2 or not self.cuda else 0}
                if self.cuda:
                    on["cuda"] = value - on["cpu"]
                result.append({"site": index, **on, "nodes": nodes})
        return result

    def moment(self, kind: str, done: float, with_held: bool = True) -> Json:
        held = self.held(done)
        total = {key: sum(part.get(key, 0) for part in held) for key in ["cpu", "cuda", "nodes"]}
        result = {"kind": kind, "seconds": 0.4 + done * 0.21, "iterations": int(done),
                  "cpu": total["cpu"], "nodes": total["nodes"],
                  "resident": int(total["cpu"] * 1.18 + 310 * MIB)}
        if self.cuda:
            result["cuda"] = total["cuda"]
            result["reserved"] = (int(total["cuda"] * 1.1) // (20 * MIB) + 1) * 20 * MIB
        return {**result, "held": held if with_held else []}


def curves(run: Run, moments: list[Json], points: int) -> Json:
    samples = [run.moment("regular", run.iterations * index / points, False)
               for index in range(points)]
    everything = sorted([*moments, *samples], key=lambda each: each["seconds"])
    at_moments = {id(each) for each in moments}
    result: Json = {"seconds": [each["seconds"] for each in everything]}
    for name in ["cpu", "cuda", "nodes"]:
        if name != "cuda" or run.cuda:
            result[name] = [each[name] for each in everything]
    for name in ["reserved", "resident"]:
        if name != "reserved" or run.cuda:
            result[name] = [each[name] if id(each) in at_moments else None
                            for each in everything]
    return result


def iteration(run: Run, number: int) -> Json:
    at = [run.moment("regular", number - 1 + part, False) for part in (0, 0.45, 0.8, 0.97, 1)]
    total = [each["cpu"] + each.get("cuda", 0) for each in at]
    return {"number": number, "begin": at[0]["seconds"], "end": at[4]["seconds"],
            "backwardBegin": at[1]["seconds"], "backwardEnd": at[2]["seconds"],
            "stepBegin": at[2]["seconds"] + 0.004, "bytesBefore": total[0],
            "bytesAtBackward": total[1], "bytesAfterBackward": total[2], "bytesAfter": total[4],
            "peak": max(total), "nodesAfter": at[4]["nodes"]}


def report(folder: str, layers: int = 70, count: int = 60, iterations: int = 240,
           growth: float = 6.4 * MIB, cuda: bool = False, failure: bool = False) -> Json:
    run = Run(folder, layers, iterations, growth, cuda)
    moments = [run.moment("after step" if index % 2 else "regular",
                          index * iterations // count + (0 if index % 2 else 0.4))
               for index in range(count)]
    if moments:
        moments[-1] = run.moment("failure" if failure else "cuda peak" if cuda else "cpu peak",
                                 iterations - 0.55)
    last = moments[-1] if moments else run.moment("regular", iterations)
    device = "cuda" if cuda else "cpu"
    rows = [{"which": which, **iteration(run, number)} for which, number in [
        ("first", 1), ("typical", iterations // 2), ("last", iterations)]]
    by_kind = {kind: sum(part["cpu"] + part.get("cuda", 0) for part in last["held"]
                         if run.sites[part["site"]]["memory"] == kind) for kind in KINDS}
    result: Json = {
        "format": "torch-confirm report", "version": 1,
        "headline": "Memory grows by 6.4 MiB per iteration: src/train.cpp:10 keeps the graph "
                    "of each iteration" if growth else "No growth: memory is level over "
                    f"{iterations} iterations",
        "program": {"command": ["build/train", "--epochs", "3", "--data", "/data/imagenet"],
                    "process": 4711, "timedOut": False, "killedForMemory": failure,
                    "seconds": 0.6 + iterations * 0.21,
                    "libtorch": "2.11.0", **({"signal": 9} if failure else {"exitCode": 0}),
                    **({"cudaDevice": "NVIDIA H100 80GB HBM3"} if cuda else {})},
        "growth": {"trend": "grows", "unit": "iteration", "bytesPerUnit": growth,
                   "nodesPerUnit": 36, "grown": int(growth * iterations)} if growth else
                  {"trend": "level", "unit": "iteration", "bytesPerUnit": 0, "nodesPerUnit": 0,
                   "grown": 0},
        "causes": [],
        "totals": {"operations": 400 * len(run.sites), "peakCpu": last["cpu"],
                   "cpuAtEnd": last["cpu"], "peakResident": last["resident"],
                   "nodesMade": 400 * layers, "nodesAtEnd": last["nodes"],
                   "unattributedEvents": 0,
                   **({"peakCuda": last["cuda"], "cudaAtEnd": last["cuda"],
                       "peakReserved": last["reserved"]} if cuda else {})},
        "devices": [{"index": 0, "name": "NVIDIA H100", "idleShare": 0.625, "seconds": 17.5,
                     "shared": False}] if cuda else [],
        "evaluation": {"peak": 212 * MIB, "operations": 5120},
        "peaks": {device: {
            "seconds": last["seconds"], "bytes": last[device], "highest": last[device],
            "moment": count - 1, "byKind": by_kind, "byPhase": dict.fromkeys(PHASES, 0),
            "byModule": [{"module": "net::BlockImpl", "activations": 3 * MIB},
                         {"module": "net::HeadImpl", "activations": MIB}],
            "varying": [{"line": {"file": "/work/src/data.h", "line": 7}, "kinds": 9,
                         "bytes": 64 * MIB}] if cuda else [],
            "lines": []}} if moments else {},
        "iterations": {"count": iterations, "site": 2, "rows": rows,
                       "epochs": [{"first": 1, "last": 8, "begin": 0, "end": 9.5,
                                   "peak": 96 * MIB, "bytesAfter": 31 * MIB},
                                  {"first": 9, "last": 16, "begin": 9.5, "end": 20,
                                   "peak": 97 * MIB, "bytesAfter": 32 * MIB}],
                       "recorded": [iteration(run, 1 + index)
                                    for index in range(iterations)]},
        "times": {"byPhase": dict(zip(PHASES, [3.1, 14.2, 21.9, 5.5, 2.2, 0.4])),
                  "rows": [{"operation": each["operation"], "sites": [index],
                            "line": each["stack"][0] if each["stack"] else {},
                            "seconds": 9 / (1 + index), "share": 0.19 / (1 + index),
                            "hits": each["hits"], "waits": 240 if index == 2 else 0}
                           for index, each in enumerate(run.sites[:24])]},
        "copies": [{"line": run.sites[1]["stack"][0], "site": 1, "from": "cpu", "to": "cuda",
                    "converts": False, "pinned": False, "count": 240, "bytes": 240 * 38 * MIB,
                    "again": 0}] if cuda else [],
        "modules": [{"path": f"encoder.{index}" if index else "", "parameters": index and 4,
                     "parameterBytes": index * index * 300000, "withGradient": index and 4,
                     "gradientBytes": index * index * 300000,
                     "optimizerBytes": index * index * 600000,
                     "buffers": 2, "bufferBytes": 4096,
                     "kinds": ["Float on " + ("cuda:0" if cuda else "cpu")]}
                    for index in range(13)],
        "oddities": [{"text": "buffer 'mean' is on cpu, 211 others are on cuda:0", "name": "mean"}]
        if cuda else [],
        "checked": [{"what": "gradients are cleared between steps", "fine": True},
                    {"what": "graphs go with their iteration", "fine": False,
                     "seen": "graphs of up to 240 passes are kept at once",
                     "line": {"file": f"{folder}/train.cpp", "line": 91, "function": "train"},
                     "check": "torch-retained-graph"}],
        "notMeasured": [] if cuda else
        [{"quantity": "cuda-memory", "reason": "the program does not use CUDA"}],
        "limits": [],
        "curves": curves(run, moments, 900 if count > 1 else 0),
        "moments": moments,
        "sites": run.sites,
    }
    if growth:
        main = run.below[1]
        result["causes"] = [
            {"kind": "kept graphs", "line": run.leak, "stack": [run.leak, main], "sites": [0],
             "bytes": int(growth * iterations), "nodes": 36 * iterations,
             "bytesPerUnit": growth, "nodesPerUnit": 36, "share": 0.94,
             "peakWithout": int(last["cpu"] - growth * iterations * 0.94),
             "check": "torch-retained-graph",
             "cure": "Add the number, not the tensor: total += loss.item<double>(), or "
                     "loss.detach() where a tensor is wanted."},
            {"kind": "kept tensors", "line": run.sites[1]["stack"][0],
             "stack": run.sites[1]["stack"], "sites": [1], "bytes": 38 * MIB,
             "bytesPerUnit": growth * 0.05, "nodesPerUnit": 0, "share": 0.05,
             "peakWithout": last["cpu"] - 20 * MIB,
             "cure": "Give the cache a bound, or clear it after each epoch."}]
        if not run.cuda:
            del result["causes"][1]["nodesPerUnit"]
    return result


def evil(folder: str) -> Json:
    """Names that would be more than text if the page let them."""
    result = report(folder, layers=1, count=3)
    result["headline"] = "</script><script>alert(1)</script> & <!-- {{SCRIPTS}}"
    for each in result["sites"]:
        for line in each["stack"]:
            line["function"] = EVIL
            line["file"] = f"{folder}/<b>bold</b>/</script>.cpp"
    result["causes"][0]["line"]["function"] = EVIL
    result["causes"][0]["cure"] = EVIL
    result["notMeasured"] = [{"quantity": "nodes", "reason": EVIL}]
    return result


def empty(folder: str) -> Json:
    """Of a program that ended before it did anything."""
    result = report(folder, layers=0, count=0, iterations=1, growth=0)
    for name in ["copies", "modules", "oddities", "checked", "limits", "sites"]:
        result[name] = []
    result["iterations"] = {"count": 0, "rows": [], "epochs": [], "recorded": []}
    result["times"] = {"byPhase": dict.fromkeys(PHASES, 0), "rows": []}
    result["curves"] = {"seconds": []}
    result["growth"] = {"trend": "unknown", "unit": "second"}
    result["totals"] = {"unattributedEvents": 0}
    result["headline"] = "No operation of LibTorch ran"
    result["program"]["exitCode"] = 1
    del result["evaluation"]
    return result


SAMPLES: dict[str, Callable[[str], Json]] = {
    "growth": report,
    "level": lambda folder: report(folder, layers=18, growth=0),
    "cuda": lambda folder: report(folder, layers=40, cuda=True, failure=True),
    "large": lambda folder: report(folder, layers=750, count=40),
    "few": lambda folder: report(folder, layers=0, count=12, iterations=12),
    "one": lambda folder: report(folder, layers=4, count=1, iterations=2, growth=0),
    "empty": empty,
    "evil": evil,
}


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src/train.cpp").write_text(SOURCE)
    for name, make in SAMPLES.items():
        (folder / f"{name}.json").write_text(json.dumps(make(str(folder))))


if __name__ == "__main__":
    main()
