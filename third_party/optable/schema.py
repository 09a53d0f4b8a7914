"""Reads the operator schemas that LibTorch's Python wheel ships.

Only the parts of the schema language which the operation table needs are
kept: types, alias annotations, keyword-only arguments, tags, dispatch keys and
the names of automatically generated variants.
"""

import ast
import os
import re
from typing import Any

FUNCTIONS = os.path.join("torchgen", "packaged", "ATen", "native", "native_functions.yaml")
TAGS = os.path.join("torchgen", "packaged", "ATen", "native", "tags.yaml")
DERIVATIVES = os.path.join("torchgen", "packaged", "autograd", "derivatives.yaml")
VARIABLE_TYPE = os.path.join("torchgen", "packaged", "autograd", "gen_variable_type.py")
VERSION = os.path.join("torch", "version.py")


class SchemaError(Exception):
    """Input that is absent or is not what this reader understands."""


class Value:
    """An argument or a result: its type without annotation, and its alias set."""

    def __init__(self, type_: str, aliases: str = "", writes: bool = False, name: str = "",
                 kwonly: bool = False) -> None:
        self.type = type_
        self.aliases = aliases
        self.writes = writes
        self.name = name
        self.kwonly = kwonly

    @property
    def is_tensor(self) -> bool:
        return bool(re.match(r"Tensor(\?|\b)", self.type)) and "[" not in self.type

    @property
    def is_tensor_list(self) -> bool:
        return self.type.startswith("Tensor") and "[" in self.type

    @property
    def holds_tensor(self) -> bool:
        return self.is_tensor or self.is_tensor_list


class Schema:
    """`name.overload(arguments) -> returns`."""

    def __init__(self, name: str, overload: str, arguments: list[Value],
                 returns: list[Value]) -> None:
        self.name = name
        self.overload = overload
        self.arguments = arguments
        self.returns = returns

    @property
    def full_name(self) -> str:
        return f"{self.name}.{self.overload}" if self.overload else self.name

    @property
    def outs(self) -> list[Value]:
        """The out= arguments: keyword-only arguments that are written."""
        return [a for a in self.arguments if a.kwonly and a.writes]

    @property
    def kind(self) -> str:
        if self.outs:
            return "out"
        inplace_dunder = re.fullmatch(r"__i\w+__", self.name) and self.name != "__invert__"
        if (self.name.endswith("_") and not self.name.endswith("__")) or inplace_dunder:
            return "inplace"
        return "functional"

    @property
    def names_dimensions(self) -> bool:
        return any(a.type.startswith("Dimname") for a in self.arguments)

    @property
    def functional_name(self) -> str:
        """The name that the functional, in-place and out= variants share."""
        if re.fullmatch(r"__i\w+__", self.name):
            return "__" + self.name[3:]
        return self.name[:-1] if self.kind == "inplace" else self.name

    @property
    def signature(self) -> tuple[str, tuple[str, ...]]:
        """What the functional, in-place and out= variants of one overload have in common."""
        types = tuple(a.type for a in self.arguments if not (a.kwonly and a.writes))
        return (self.functional_name, types)


class Function(Schema):
    """A row of native_functions.yaml."""

    def __init__(self, schema: Schema, variants: frozenset[str], tags: frozenset[str],
                 dispatch: frozenset[str], autogen: list[str], delegates: bool = False,
                 generated: bool = False, bound_by_hand: bool = False) -> None:
        super().__init__(schema.name, schema.overload, schema.arguments, schema.returns)
        self.variants = variants
        self.tags = tags
        self.dispatch = dispatch
        self.autogen = autogen
        self.delegates = delegates
        self.generated = generated
        self.bound_by_hand = bound_by_hand

    @property
    def is_composite_implicit(self) -> bool:
        """Made of other operations, so that autograd sees those and not this one."""
        if self.generated or self.delegates:
            return False
        return not self.dispatch or "CompositeImplicitAutograd" in self.dispatch


def split_top_level(text: str) -> list[str]:
    """Splits at commas that are outside brackets and quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return [p for p in parts if p]


def parse_value(text: str, kwonly: bool = False) -> Value:
    """Parses `Tensor(a!)[] name=default` or the same without a name."""
    match = re.match(r"""(\w+)                               # base type
                         (?:\(([\w|]+)(!?)(?:\s*->\s*[\w|*]+)?(!?)\))?  # alias annotation
                         ([?\[\]\d]*)                        # optional and list marks
                         (?:\s+(\w+))?                       # name
                         (?:\s*=.*)?$""", text, re.X | re.S)
    if not match:
        raise SchemaError(f"cannot parse the argument '{text}'")
    base, aliases, write, write_after, marks, name = match.groups()
    return Value(base + (marks or ""), aliases or "", bool(write or write_after), name or "", kwonly)


def parse_schema(text: str) -> Schema:
    match = re.match(r"\s*(\w+)(?:\.(\w+))?\((.*)\)\s*->\s*(.*?)\s*$", text, re.S)
    if not match:
        raise SchemaError(f"cannot parse the schema '{text}'")
    name, overload, arguments, returns = match.groups()
    values, kwonly = [], False
    for part in split_top_level(arguments):
        if part == "*":
            kwonly = True
        else:
            values.append(parse_value(part, kwonly))
    if returns.startswith("("):
        returns = returns[1:-1]
    return Schema(name, overload or "", values, [parse_value(p) for p in split_top_level(returns)])


def as_list(value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        return [p.strip() for p in value.split(",") if p.strip()]
    return list(value)


def parse_function(row: Any, known_tags: frozenset[str] | None = None) -> Function:
    if not isinstance(row, dict) or "func" not in row:
        raise SchemaError(f"a row of native_functions.yaml has no 'func': {row!r}")
    tags = frozenset(as_list(row.get("tags")))
    if known_tags is not None and not tags <= known_tags:
        raise SchemaError(f"unknown tags {sorted(tags - known_tags)} in '{row['func']}'")
    dispatch = frozenset(k for keys in row.get("dispatch") or {} for k in as_list(keys))
    return Function(parse_schema(row["func"]), frozenset(as_list(row.get("variants", "function"))),
                    tags, dispatch, as_list(row.get("autogen")),
                    delegates="structured_delegate" in row,
                    bound_by_hand=bool(row.get("manual_cpp_binding")))


def expand_autogen(function: Function) -> list[Function]:
    """The variants that torchgen writes itself: `autogen: resize, resize.out`.

    It does not for composites that are not core operations, although some ask for it.
    """
    result: list[Function] = []
    if function.is_composite_implicit and "core" not in function.tags:
        return result
    for entry in function.autogen:
        name, _, overload = entry.partition(".")
        inputs = [Value(a.type, "", False, a.name, a.kwonly) for a in function.arguments]
        tensors = [r for r in function.returns if r.holds_tensor] or \
                  [a for a in function.arguments if a.writes]
        returns = [Value(r.type) for r in tensors]
        if re.search(r"(^|_)out$", overload):
            inputs += [Value(r.type, chr(ord("a") + i), True, f"out{i}", True)
                       for i, r in enumerate(returns)]
            returns = [Value(r.type, chr(ord("a") + i), True) for i, r in enumerate(returns)]
        schema = Schema(name, overload, inputs, returns)
        result.append(Function(schema, frozenset(["function"]), function.tags - {"inplace_view"},
                               frozenset(["CompositeExplicitAutograd"]), [], generated=True))
    return result


class Derivative:
    """A row of derivatives.yaml: which inputs have a formula, which outputs are connected."""

    def __init__(self, schema: Schema, inputs: set[str], outputs: list[Any] | None) -> None:
        self.schema = schema
        self.inputs = inputs
        self.outputs = outputs


def parse_derivative(row: dict[str, Any]) -> Derivative:
    schema = parse_schema(row["name"])
    results = {r.name for r in schema.returns if r.name} | {"result"} | \
              {f"result{i}" for i in range(len(schema.returns))}
    names = {a.name for a in schema.arguments}
    formulas = dict(row)
    for default in (row.get("dispatch") or {}).values():
        formulas.update(default)
    inputs = set()
    for key, formula in formulas.items():
        for name in as_list(key):
            if name in names and name not in results - names and formula != "non_differentiable":
                inputs.add(name)
    return Derivative(schema, inputs, row.get("output_differentiability"))


class Source:
    """Everything that is read from one LibTorch."""

    def __init__(self, functions: list[Function], derivatives: list[Derivative],
                 not_required: frozenset[str], version: str) -> None:
        self.functions = functions
        self.by_name = {d.schema.full_name: d for d in derivatives}
        self.by_signature: dict[tuple[str, tuple[str, ...]], Derivative] = {}
        for d in derivatives:
            self.by_signature.setdefault(d.schema.signature, d)
        self.not_required = not_required
        self.version = version

    def derivative(self, function: Function) -> Derivative | None:
        """In-place functions take the formula of the functional one when they have none."""
        return self.by_name.get(function.full_name) or self.by_signature.get(function.signature)


def read_text(root: str, path: str) -> str:
    try:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise SchemaError(
            f"cannot read {error.filename}: {error.strerror}; --libtorch wants the folder that holds "
            "torch/ and torchgen/ of LibTorch's Python wheel (Debian's libtorch-dev has no torchgen)") from error


def read_yaml(root: str, path: str) -> list[Any]:
    try:
        import yaml
    except ImportError as error:
        raise SchemaError("PyYAML is not installed: apt-get install python3-yaml (or pip install "
                          "PyYAML)") from error
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        rows = yaml.load(read_text(root, path), Loader=loader)
    except yaml.YAMLError as error:
        raise SchemaError(f"{os.path.join(root, path)} is not valid YAML: {error}") from error
    if not isinstance(rows, list) or not rows:
        raise SchemaError(f"{os.path.join(root, path)} is not a list of rows")
    return rows


def literal_set(text: str, name: str) -> frozenset[str]:
    """The value of a set of strings that is assigned to `name` in a Python source."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and [getattr(t, "id", "") for t in node.targets] == [name]:
            return frozenset(ast.literal_eval(node.value))
    raise SchemaError(f"no assignment to {name} in {VARIABLE_TYPE}")


def read_source(root: str) -> Source:
    version = re.search(r"^__version__\s*=\s*['\"]([\w.]+)", read_text(root, VERSION), re.M)
    if not version:
        raise SchemaError(f"no __version__ in {os.path.join(root, VERSION)}")
    tags = frozenset(row["tag"] for row in read_yaml(root, TAGS))
    functions = [parse_function(row, tags) for row in read_yaml(root, FUNCTIONS)]
    functions += [g for f in functions for g in expand_autogen(f)]
    derivatives = [parse_derivative(row) for row in read_yaml(root, DERIVATIVES)]
    not_required = literal_set(read_text(root, VARIABLE_TYPE), "DONT_REQUIRE_DERIVATIVE")
    return Source(functions, derivatives, not_required, version.group(1))
