#!/usr/bin/env python3
"""Compares the rules with what LibTorch does: builds verify.cpp, runs it, lists contradictions.

  verify.py --libtorch DIR [--build FOLDER] [--tries N] [NAME...]

Takes about ten minutes for all operations. To be run after an update of
LibTorch; exits with 1 when something contradicts the rules. What only a GPU
would show (copies to the host, kernels for CUDA) is not seen.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import generate
import schema
from schema import Function, Source

HERE = os.path.dirname(os.path.abspath(__file__))

# Contradictions that are none, by column.
EXPECTED = {
    "Differentiable": {
        "vander": "of no or one column: constant", "svd": "compute_uv=False gives a constant U",
        "where": "set aside in rules.py", "view_copy.dtype": "set aside in rules.py",
    },
    "Sync": {name: reason for reason, names in {
        "the kernel for the CPU alone reads numbers": """
            std std.dim std.correction var var.dim var.correction rrelu rrelu_ rrelu_with_noise rrelu_with_noise_
            rrelu_with_noise_functional multilabel_margin_loss multilabel_margin_loss_forward cholesky_solve
            cholesky_inverse fake_quantize_per_tensor_affine.tensor_qparams
            _fused_sgd_ _fused_sgd_.tensor_lr _fused_adagrad_ _fused_adagrad_.tensor_lr
            _fused_adam_.tensor_lr _fused_adamw_.tensor_lr""",
        "runs on the CPU alone": "histogram.bins_tensor histogram.bin_ct histogramdd histogramdd.int_bins",
        "q is checked on the CPU alone": "quantile quantile.scalar nanquantile nanquantile.scalar",
        "the indices must be on the CPU": "tensor_split.tensor_indices_or_sections",
    }.items() for name in names.split()},
}


def build(libtorch: str, folder: str) -> str:
    torch = os.path.join(libtorch, "torch")
    program = os.path.join(folder, "verify")
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++17", "-O0", "-w", os.path.join(HERE, "verify.cpp"),
                    "-o", program, "-isystem", os.path.join(torch, "include"), "-L" + os.path.join(torch, "lib"),
                    "-ltorch_cpu", "-lc10", "-Wl,--allow-shlib-undefined",
                    "-Wl,-rpath," + os.path.join(torch, "lib")], check=True)
    return program


def observe(program: str, libtorch: str, tries: int,
            names: list[str]) -> dict[tuple[str, str], tuple[int, dict[str, int]]]:
    """{(name, overload): (calls, {what: count})}"""
    # libtorch_cpu.so of a CUDA wheel needs the small CUDA libraries beside it.
    libraries = [path for path, _, files in os.walk(os.path.join(libtorch, "nvidia")) if
                 any(f.startswith("lib") and ".so" in f for f in files)]
    environment = dict(os.environ, LD_LIBRARY_PATH=os.pathsep.join(libraries))
    output = subprocess.run([program, str(tries), *names], check=True, env=environment, stdout=subprocess.PIPE,
                            text=True).stdout
    result = {}
    for line in output.splitlines():
        fields = line.split("\t")
        if len(fields) >= 3 and fields[2].isdigit():
            counts = dict(f.rsplit("=", 1) for f in fields[3:])
            result[fields[0], fields[1]] = (int(fields[2]), {what: int(n) for what, n in counts.items()})
    return result


def contradictions(function: Function, counts: dict[str, int],
                   source: Source) -> Iterator[tuple[str, str, str]]:
    """Yields (column, rule, what was seen). A Maybe cannot be contradicted."""
    def seen(what: str) -> int:
        return counts.get(what, 0)

    view = generate.view(function)
    if function.kind == "functional" and ((view == "Yes" and seen("fresh")) or (view == "No" and seen("alias"))):
        yield "View", view, f"{seen('alias')} aliases, {seen('fresh')} not"
    connected = generate.differentiable(function, source)
    only_integral = function.kind == "functional" and seen("integral") and not seen("connected")
    if (connected == "Yes" and (seen("cut") or only_integral)) or (connected == "No" and seen("connected")):
        yield "Differentiable", connected, \
            f"{seen('connected')} connected, {seen('cut')} cut, {seen('integral')} integral"
    if generate.sync(function) == "No" and seen("sync"):
        yield "Sync", "No", f"{seen('sync')} did, {seen('nosync')} did not"
    written = {what[len("writes:"):] for what in counts if what.startswith("writes:")}
    tensors = [a.name for a in function.arguments if a.holds_tensor]
    allowed = {"Self": set(tensors[:1]), "Other": set(tensors), "NoArgument": set()}[generate.writes(function)]
    if not written <= allowed:
        yield "Writes", generate.writes(function), ", ".join(sorted(written))


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares the rules with what LibTorch does.")
    parser.add_argument("--libtorch", required=True, metavar="DIR")
    parser.add_argument("--build", metavar="FOLDER", help="where to build (default: a temporary folder)")
    parser.add_argument("--tries", type=int, default=1000, help="calls to try of each overload (default: 1000)")
    parser.add_argument("names", nargs="*", help="operations (default: all)")
    options = parser.parse_args()
    try:
        source = schema.read_source(options.libtorch)
        with tempfile.TemporaryDirectory() as temporary:
            program = build(options.libtorch, options.build or temporary)
            observations = observe(program, options.libtorch, options.tries, options.names)
    except (schema.SchemaError, OSError, subprocess.CalledProcessError) as error:
        print(f"verify.py: error: {error}", file=sys.stderr)
        return 2
    ran, not_run, bad = 0, [], 0
    for function in source.functions:
        if not generate.is_listed(function) or function.kind == "out" or \
                (options.names and function.name not in options.names):
            continue
        calls, counts = observations.get((function.name, function.overload), (0, {}))
        if not calls:
            not_run.append(function.full_name)
            continue
        ran += 1
        for column, rule, what in contradictions(function, counts, source):
            if function.full_name not in EXPECTED.get(column, {}):
                bad += 1
                print(f"{function.full_name}: {column} {rule}, seen: {what}")
    print(f"not run: {' '.join(not_run)}")
    print(f"{ran} overloads run, {len(not_run)} not (no arguments were found), {bad} contradictions")
    return 1 if bad or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
