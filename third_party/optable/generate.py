#!/usr/bin/env python3
"""Derives checks/torch/OperationTable.inc from the operator schemas of LibTorch.

  generate.py --libtorch DIR           writes the table
  generate.py --libtorch DIR --check   compares, prints a diff and exits with 1 when it is stale

DIR holds torch/ and torchgen/ of LibTorch's Python wheel. Needs PyYAML
(Debian: python3-yaml). README.md beside this file explains the columns.
"""

import argparse
import difflib
import os
import re
import sys
from typing import Any

import rules
import schema
from schema import Function, Source

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "..", "..", "checks", "torch", "OperationTable.inc")

FLAGS = ["Factory", "LikeFactory", "Random", "Allocates", "InplaceView", "DiscardsHistory", "Resizes",
         "ChangesDevice", "ChangesDtype"]
# A flag of one overload says something about the name only if it holds for all ...
FLAGS_OF_ALL = {"Factory", "LikeFactory", "Allocates", "DiscardsHistory"}
# The columns of a row of the table; see Row.columns().
Columns = tuple[Any, ...]


def is_listed(function: Function) -> bool:
    """Whether users can call it."""
    name = function.name
    if rules.BACKWARD_ONLY.fullmatch(name):
        return False
    if name in rules.CPP_NAMES or not name.startswith("_"):
        return True
    if re.fullmatch(r"__\w+__", name):  # Python's operators; C++ has its own
        return False
    return "method" in function.variants or bool(rules.PRIVATE_BUT_USED.fullmatch(name))


def cpp_names(function: Function) -> list[str]:
    """out= variants have two C++ names: out first, and out last as in the schema."""
    name = rules.CPP_NAMES.get(function.name, function.name)
    return [name + "_out", name + "_outf"] if function.kind == "out" else [name]


def variants(function: Function) -> set[str]:
    """Bindings by hand are members of TensorBase; some have a function beside them, too."""
    if function.bound_by_hand and re.match(r"sym_", function.name):
        return {"Method"}
    return {v.capitalize() for v in function.variants} | ({"Method"} if function.bound_by_hand else set())


def returns(function: Function) -> str:
    values = function.returns
    if not values:
        return "Nothing"
    if len(values) == 1 and values[0].is_tensor:
        return "Tensor"
    return "Tensors" if any(v.holds_tensor for v in values) else "Scalar"


def view(function: Function) -> str:
    name = function.name
    if function.kind != "functional":
        return "No"
    if name in rules.MAY_ALIAS:
        return "Maybe"
    if name in rules.ALWAYS_ALIAS:
        return "Yes"
    if name in rules.NEVER_ALIAS:
        return "No"
    if "maybe_aliasing_or_mutating" in function.tags:
        return "Maybe"
    return "Yes" if any(r.aliases and not r.writes for r in function.returns) else "No"


def writes(function: Function) -> str:
    if function.kind == "out":
        return "Out"
    tensors = [a for a in function.arguments if a.holds_tensor]
    written = [a for a in function.arguments if a.writes]
    if not written:
        return "Other" if function.name in rules.WRITES_UNANNOTATED else "NoArgument"
    return "Self" if tensors and tensors[0].writes else "Other"


def differentiable(function: Function, source: Source) -> str:
    """Whether the (first) result requires grad when every floating-point input does."""
    name = function.name
    tensors = [a for a in function.arguments if a.holds_tensor]
    # An operation in place that returns nothing leaves its result in the argument.
    results = [r for r in function.returns if r.holds_tensor] or [a for a in tensors if a.writes]
    if not tensors or not results or function.kind == "out" or name in rules.NOT_CONNECTED:
        return "No"
    if function.kind == "inplace":
        return "Yes"  # The history that the tensor has stays, whatever is written.
    if name in rules.MAYBE_CONNECTED:
        return "Maybe"
    if name in source.not_required:
        return "No"
    derivative = source.derivative(function)
    if derivative is None:
        # Without a formula a composite passes the history on, and any other
        # operation gets a node that throws in backward(): connected all the same.
        return "Yes"
    if not derivative.inputs:
        return "No"
    outputs = derivative.outputs or [True]
    if all(o is False for o in outputs):
        return "No"
    return "Yes" if outputs[0] is True else "Maybe"


def sync(function: Function) -> str:
    names = {function.name, function.functional_name}
    if function.name in rules.NEVER_SYNC:
        return "No"
    if names & rules.MAY_SYNC.keys():
        return "Maybe"
    if names & rules.ALWAYS_SYNC.keys() or function.tags & {"data_dependent_output", "dynamic_output_shape"}:
        return "Yes"
    return "No"


def flags(function: Function) -> set[str]:
    name, result = function.name, set()
    has_input = any(a.holds_tensor for a in function.arguments if a not in function.outs)
    gives_tensor = any(r.holds_tensor for r in function.returns)
    functional = function.kind == "functional"
    if functional and gives_tensor and not has_input:
        result.add("Factory")
    if functional and gives_tensor and rules.LIKE_FACTORY.fullmatch(name):
        result.add("LikeFactory")
    if "nondeterministic_seeded" in function.tags:
        result.add("Random")
    if functional and gives_tensor and view(function) == "No":
        result.add("Allocates")
    if "inplace_view" in function.tags:
        result.add("InplaceView")
    if name in rules.DISCARDS_HISTORY:
        result.add("DiscardsHistory")
    if rules.RESIZES.fullmatch(name) and any(a.writes for a in function.arguments):
        result.add("Resizes")
    if name in rules.CHANGES_DEVICE:
        result.add("ChangesDevice")
    if name in rules.CHANGES_DTYPE:
        result.add("ChangesDtype")
    return result


class Row:
    def __init__(self, function: Function, source: Source) -> None:
        self.variants = variants(function)
        self.returns = {returns(function)}
        self.view = {view(function)}
        self.writes = {writes(function)}
        self.sync = {sync(function)}
        self.differentiable, self.flags = set(), []
        if function.full_name not in rules.SET_ASIDE:
            self.differentiable.add(differentiable(function, source))
            self.flags.append(flags(function))

    def merge(self, other: "Row") -> None:
        self.variants |= other.variants
        self.returns |= other.returns
        self.view |= other.view
        self.writes |= other.writes
        self.differentiable |= other.differentiable
        self.sync |= other.sync
        self.flags += other.flags

    @staticmethod
    def only(values: set[str], otherwise: str) -> str:
        return next(iter(values)) if len(values) == 1 else otherwise

    def columns(self) -> Columns:
        everywhere = set.intersection(*self.flags)
        somewhere = set.union(*self.flags)
        chosen = [f for f in FLAGS if f in (everywhere if f in FLAGS_OF_ALL else somewhere)]
        order = ["Method", "Function"]
        return (" | ".join(v for v in order if v in self.variants), self.only(self.returns, "Mixed"),
                self.only(self.view, "Maybe"), self.only(self.writes, "Other"),
                self.only(self.differentiable, "Maybe"), self.only(self.sync, "Maybe"),
                chosen)


def build(source: Source) -> dict[str, Columns]:
    """The columns of every row by C++ name."""
    check_rules(source.functions)
    rows: dict[str, Row] = {}
    positional = {f.name for f in source.functions if not f.names_dimensions}
    for function in source.functions:
        # Overloads for named dimensions forward to the others, so they tell nothing new.
        if not is_listed(function) or (function.names_dimensions and function.name in positional):
            continue
        for name in cpp_names(function):
            row = Row(function, source)
            if name in rows:
                rows[name].merge(row)
            else:
                rows[name] = row
    table = {name: row.columns() for name, row in rows.items()}
    for operator, (name, variants) in rules.OPERATORS.items():
        table[operator] = (variants, *table[name][1:])
    table.update(rules.HAND_WRITTEN)
    return table


def check_rules(functions: list[Function]) -> None:
    """Rules for names that do not exist are mistakes, or LibTorch has dropped the names."""
    known = {n for f in functions for n in (f.name, f.functional_name)}
    listed = {n for table in (rules.MAY_ALIAS, rules.ALWAYS_ALIAS, rules.NEVER_ALIAS, rules.NOT_CONNECTED,
                              rules.MAYBE_CONNECTED, rules.MAY_SYNC, rules.ALWAYS_SYNC, rules.NEVER_SYNC, rules.CPP_NAMES,
                              rules.WRITES_UNANNOTATED, rules.DISCARDS_HISTORY, rules.CHANGES_DEVICE,
                              rules.CHANGES_DTYPE) for n in table}
    missing = sorted(listed - known) + sorted(rules.SET_ASIDE.keys() - {f.full_name for f in functions})
    missing += sorted({n for n, _ in rules.OPERATORS.values()} - known)
    if missing:
        raise schema.SchemaError("rules.py names operations which this LibTorch does not have: " + ", ".join(missing))


def render(table: dict[str, Columns], version: str) -> str:
    lines = [
        "//===- OperationTable.inc - What LibTorch's operations do ------*- C++ -*-===//",
        "//",
        "// Generated, do not edit: third_party/optable/generate.py --libtorch DIR",
        f"// from the operator schemas of LibTorch {version} (native_functions.yaml, tags.yaml,",
        "// derivatives.yaml) and third_party/optable/rules.py. One row per C++ name,",
        "// overloads merged; third_party/optable/README.md explains the columns.",
        "//",
        "//===----------------------------------------------------------------------===//",
        "",
        "#ifndef OPERATION",
        "#error define OPERATION(Name, Variants, Returns, View, Writes, Differentiable, Sync, Flags)",
        "#endif",
        "",
    ]
    for name in sorted(table):
        *columns, names = table[name]
        flag_text = " | ".join(f for f in FLAGS if f in names) or "NoFlags"
        lines.append(f'OPERATION("{name}", {", ".join(columns)}, {flag_text})')
    lines += ["", "#undef OPERATION", ""]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Derives the operation table from LibTorch's schemas.")
    parser.add_argument("--libtorch", required=True, metavar="DIR",
                        help="folder that holds torch/ and torchgen/ of LibTorch's Python wheel")
    parser.add_argument("--output", default=os.path.normpath(TABLE), metavar="FILE",
                        help="the table (default: %(default)s)")
    parser.add_argument("--check", action="store_true", help="compare only; exit with 1 when the table is stale")
    options = parser.parse_args(arguments)
    try:
        source = schema.read_source(options.libtorch)
        text = render(build(source), source.version)
        if not options.check:
            with open(options.output, "w", encoding="utf-8") as file:
                file.write(text)
            return 0
        with open(options.output, encoding="utf-8") as file:
            old = file.read()
    except schema.SchemaError as error:
        print(f"generate.py: error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"generate.py: error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    if old == text:
        return 0
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), text.splitlines(True),
                                               "committed", "generated"))
    print("generate.py: error: the table is stale; run generate.py without --check", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
