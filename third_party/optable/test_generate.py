#!/usr/bin/env python3
"""Tests of the generator, on schemas written here: no LibTorch is needed."""

import contextlib
import io
import os
import sys
import tempfile
import unittest
import unittest.mock
from collections.abc import Iterable, Sequence
from typing import Any

import generate
import rules
import schema

DIMENSIONS = "Dimname[] names"
Row = dict[str, Any]


def function(text: str, **row: Any) -> schema.Function:
    return schema.parse_function({"func": text, **row})


def source(functions: Sequence[str | schema.Function], derivatives: Sequence[Row] = (), not_required: Iterable[str] = ()) -> schema.Source:
    rows = [f if isinstance(f, schema.Function) else function(f) for f in functions]
    rows += [g for f in rows for g in schema.expand_autogen(f)]
    return schema.Source(rows, [schema.parse_derivative(d) for d in derivatives], frozenset(not_required), "0")


def differentiable(text: str, derivatives: Sequence[Row] = (), not_required: Iterable[str] = (), **row: Any) -> str:
    return generate.differentiable(function(text, **row), source([], derivatives, not_required))


class SchemaTest(unittest.TestCase):
    def test_names_and_overload(self) -> None:
        parsed = schema.parse_schema("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
        self.assertEqual((parsed.name, parsed.overload, parsed.full_name), ("add", "Tensor", "add.Tensor"))
        self.assertEqual([a.name for a in parsed.arguments], ["self", "other", "alpha"])
        self.assertEqual([a.kwonly for a in parsed.arguments], [False, False, True])
        self.assertEqual(parsed.kind, "functional")

    def test_annotations(self) -> None:
        parsed = schema.parse_schema("split.Tensor(Tensor(a -> *) self, SymInt size, int dim=0) -> Tensor(a)[]")
        self.assertEqual(parsed.arguments[0].aliases, "a")
        self.assertFalse(parsed.arguments[0].writes)
        self.assertTrue(parsed.returns[0].is_tensor_list)
        self.assertEqual(parsed.returns[0].aliases, "a")
        self.assertTrue(schema.parse_value("Tensor(a!) self").writes)
        self.assertTrue(schema.parse_value("Tensor(a!)[] out").is_tensor_list)

    def test_defaults_hold_commas_and_brackets(self) -> None:
        parsed = schema.parse_schema(
            "f(Tensor self, int[2] stride=[1, 1], str mode='a,(b', Tensor? bias=None) -> (Tensor, int)")
        self.assertEqual([a.type for a in parsed.arguments], ["Tensor", "int[2]", "str", "Tensor?"])
        self.assertEqual([r.type for r in parsed.returns], ["Tensor", "int"])

    def test_tensor_types(self) -> None:
        for text, tensor, tensors in [("Tensor x", True, False), ("Tensor? x", True, False),
                                      ("Tensor[] x", False, True), ("Tensor?[] x", False, True),
                                      ("TensorOptions x", False, False), ("int[] x", False, False)]:
            value = schema.parse_value(text)
            self.assertEqual((value.is_tensor, value.is_tensor_list), (tensor, tensors), text)

    def test_no_result(self) -> None:
        self.assertEqual(schema.parse_schema("set_data(Tensor(a!) self, Tensor new_data) -> ()").returns, [])

    def test_kinds(self) -> None:
        for text, kind in [("add_(Tensor(a!) self) -> Tensor(a!)", "inplace"),
                           ("sum.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "out"),
                           ("__and__(Tensor self) -> Tensor", "functional"),
                           ("__iand__(Tensor(a!) self) -> Tensor(a!)", "inplace"),
                           ("rrelu_with_noise(Tensor self, Tensor(b!) noise) -> Tensor", "functional")]:
            self.assertEqual(schema.parse_schema(text).kind, kind, text)

    def test_errors(self) -> None:
        for text in ["no schema", "f(Tensor self) Tensor", "f(Tensor self", "f(Tensor* self) -> Tensor"]:
            with self.assertRaises(schema.SchemaError, msg=text):
                schema.parse_schema(text)
        with self.assertRaisesRegex(schema.SchemaError, "no 'func'"):
            schema.parse_function({"variants": "method"})
        with self.assertRaisesRegex(schema.SchemaError, "unknown tags.*surprise"):
            schema.parse_function({"func": "f() -> Tensor", "tags": "surprise"}, frozenset(["core"]))

    def test_composites(self) -> None:
        self.assertTrue(function("f(Tensor x) -> Tensor").is_composite_implicit)
        self.assertTrue(function("f(Tensor x) -> Tensor", dispatch={"CompositeImplicitAutograd, CPU": "f"})
                        .is_composite_implicit)
        self.assertFalse(function("f(Tensor x) -> Tensor", dispatch={"CPU": "f"}).is_composite_implicit)
        self.assertFalse(function("f(Tensor x) -> Tensor", structured_delegate="f.out").is_composite_implicit)

    def test_autogen(self) -> None:
        resize = function("resize_(Tensor(a!) self, SymInt[] size) -> Tensor(a!)", dispatch={"CPU": "f"},
                          tags="inplace_view", autogen="resize, resize.out")
        functional, out = schema.expand_autogen(resize)
        self.assertEqual((functional.full_name, functional.kind), ("resize", "functional"))
        self.assertFalse(any(a.writes for a in functional.arguments))
        self.assertFalse(functional.returns[0].aliases)
        self.assertNotIn("inplace_view", functional.tags)
        self.assertEqual((out.full_name, out.kind), ("resize.out", "out"))
        composite = "f(Tensor x) -> Tensor"
        self.assertEqual(schema.expand_autogen(function(composite, autogen="f.out")), [])
        self.assertEqual(len(schema.expand_autogen(function(composite, autogen="f.out", tags="core"))), 1)

    def test_autogen_out_of_a_functional_operation(self) -> None:
        f = function("f(Tensor x) -> (Tensor, Tensor)", dispatch={"CPU": "f"}, autogen="f.Tensor_out")
        out, = schema.expand_autogen(f)
        self.assertEqual((out.kind, len(out.outs), len(out.returns)), ("out", 2, 2))

    def test_set_of_strings_in_a_python_source(self) -> None:
        self.assertEqual(schema.literal_set("A = 1\nB = {'x', 'y'}\n", "B"), {"x", "y"})
        with self.assertRaises(schema.SchemaError):
            schema.literal_set("A = 1\n", "B")


class NameTest(unittest.TestCase):
    def names(self, text: str, **row: Any) -> list[str]:
        f = function(text, **row)
        return generate.cpp_names(f) if generate.is_listed(f) else []

    def test_out(self) -> None:
        self.assertEqual(self.names("sum.IntList_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"),
                         ["sum_out", "sum_outf"])

    def test_underscore(self) -> None:
        self.assertEqual(self.names("_f(Tensor self) -> Tensor"), [])
        self.assertEqual(self.names("_values(Tensor(a) self) -> Tensor(a)", variants="method"), ["_values"])
        self.assertEqual(self.names("_foreach_add_.Scalar(Tensor(a!)[] self) -> ()"), ["_foreach_add_"])
        self.assertEqual(self.names("__and__(Tensor self) -> Tensor", variants="method, function"), [])

    def test_backward(self) -> None:
        self.assertEqual(self.names("relu_backward(Tensor grad) -> Tensor"), [])
        self.assertEqual(self.names("f_backward_data(Tensor grad) -> Tensor"), [])
        self.assertEqual(self.names("_backward(Tensor self) -> ()", variants="method"), ["backward"])

    def test_bound_by_hand(self) -> None:
        self.assertEqual(generate.variants(function("size.int(Tensor self) -> int", manual_cpp_binding=True)),
                         {"Method", "Function"})
        self.assertEqual(generate.variants(function("sym_size.int(Tensor self) -> SymInt",
                                                    manual_cpp_binding=True)), {"Method"})
        self.assertEqual(generate.variants(function("f(Tensor x) -> Tensor")), {"Function"})


class ColumnTest(unittest.TestCase):
    def test_returns(self) -> None:
        for result, column in [("Tensor", "Tensor"), ("Tensor(a)", "Tensor"), ("Tensor[]", "Tensors"),
                               ("(Tensor, Tensor)", "Tensors"), ("(Tensor, float)", "Tensors"),
                               ("()", "Nothing"), ("Scalar", "Scalar"), ("bool", "Scalar"), ("SymInt", "Scalar")]:
            self.assertEqual(generate.returns(function(f"f(Tensor x) -> {result}")), column, result)

    def test_view(self) -> None:
        view = lambda text, **row: generate.view(function(text, **row))
        self.assertEqual(view("t(Tensor(a) self) -> Tensor(a)"), "Yes")
        self.assertEqual(view("chunk(Tensor(a -> *) self, int n) -> Tensor(a)[]"), "Yes")
        self.assertEqual(view("add(Tensor self) -> Tensor"), "No")
        self.assertEqual(view("add_(Tensor(a!) self) -> Tensor(a!)"), "No")
        self.assertEqual(view("sum.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"), "No")
        self.assertEqual(view("contiguous(Tensor(a) self) -> Tensor(a)"), "Maybe")
        self.assertEqual(view("type_as(Tensor self, Tensor other) -> Tensor"), "Maybe")
        self.assertEqual(view("meshgrid(Tensor[] tensors) -> Tensor[]"), "Yes")
        self.assertEqual(view("dropout(Tensor x) -> Tensor", tags="maybe_aliasing_or_mutating"), "Maybe")
        self.assertEqual(view("batch_norm(Tensor x) -> Tensor", tags="maybe_aliasing_or_mutating"), "No")

    def test_writes(self) -> None:
        writes = lambda text: generate.writes(function(text))
        self.assertEqual(writes("add(Tensor self) -> Tensor"), "NoArgument")
        self.assertEqual(writes("add_(Tensor(a!) self, Tensor other) -> Tensor(a!)"), "Self")
        self.assertEqual(writes("_foreach_add_(Tensor(a!)[] self, Scalar x) -> ()"), "Self")
        self.assertEqual(writes("sum.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"), "Out")
        self.assertEqual(writes("f(Tensor self, Tensor(b!) noise) -> Tensor"), "Other")
        self.assertEqual(writes("batch_norm(Tensor self, Tensor? running_mean) -> Tensor"), "Other")

    def test_sync(self) -> None:
        sync = lambda text, **row: generate.sync(function(text, **row))
        self.assertEqual(sync("add(Tensor self) -> Tensor"), "No")
        self.assertEqual(sync("item(Tensor self) -> Scalar", tags="data_dependent_output"), "Yes")
        self.assertEqual(sync("nonzero(Tensor self) -> Tensor", tags=["dynamic_output_shape", "core"]), "Yes")
        self.assertEqual(sync("nonzero.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
                              tags="dynamic_output_shape"), "Yes")
        self.assertEqual(sync("index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
                              tags="dynamic_output_shape"), "Maybe")
        self.assertEqual(sync("one_hot(Tensor self, int n=-1) -> Tensor", tags="dynamic_output_shape"), "Maybe")
        self.assertEqual(sync("index_put_(Tensor(a!) self, Tensor?[] indices) -> Tensor(a!)"), "Maybe")
        self.assertEqual(sync("copy_(Tensor(a!) self, Tensor src) -> Tensor(a!)"), "Maybe")
        self.assertEqual(sync("to.device(Tensor(a) self, Device device) -> Tensor(a)"), "Maybe")
        self.assertEqual(sync("is_nonzero(Tensor self) -> bool"), "Yes")
        self.assertEqual(sync("normal_(Tensor(a!) self, float mean=0) -> Tensor(a!)"), "No")

    def test_flags(self) -> None:
        flags = lambda text, **row: generate.flags(function(text, **row))
        self.assertEqual(flags("zeros(SymInt[] size) -> Tensor"), {"Factory", "Allocates"})
        self.assertEqual(flags("rand(SymInt[] size) -> Tensor", tags="nondeterministic_seeded"),
                         {"Factory", "Allocates", "Random"})
        self.assertEqual(flags("zeros.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)"), set())
        self.assertEqual(flags("zeros_like(Tensor self) -> Tensor"), {"LikeFactory", "Allocates"})
        self.assertEqual(flags("new_zeros(Tensor self, SymInt[] size) -> Tensor"), {"LikeFactory", "Allocates"})
        self.assertEqual(flags("add(Tensor self) -> Tensor"), {"Allocates"})
        self.assertEqual(flags("add_(Tensor(a!) self) -> Tensor(a!)"), set())
        self.assertEqual(flags("t(Tensor(a) self) -> Tensor(a)"), set())
        self.assertEqual(flags("contiguous(Tensor(a) self) -> Tensor(a)"), set())
        self.assertEqual(flags("t_(Tensor(a!) self) -> Tensor(a!)", tags="inplace_view"), {"InplaceView"})
        self.assertEqual(flags("detach(Tensor(a) self) -> Tensor(a)"), {"DiscardsHistory"})
        self.assertEqual(flags("item(Tensor self) -> Scalar"), {"DiscardsHistory"})
        self.assertEqual(flags("resize_(Tensor(a!) self, SymInt[] size) -> Tensor(a!)"), {"Resizes"})
        self.assertEqual(flags("to.device(Tensor(a) self, Device device) -> Tensor(a)"),
                         {"ChangesDevice", "ChangesDtype"})


class DifferentiableTest(unittest.TestCase):
    def test_composite(self) -> None:
        self.assertEqual(differentiable("f(Tensor x) -> Tensor"), "Yes")
        self.assertEqual(differentiable("f(Tensor x) -> bool"), "No")
        self.assertEqual(differentiable("f(int x) -> Tensor"), "No")
        self.assertEqual(differentiable("greater.Scalar(Tensor self, Scalar other) -> Tensor"), "No")
        self.assertEqual(differentiable("to.dtype(Tensor(a) self) -> Tensor(a)"), "Maybe")

    def test_without_a_formula_there_is_a_node_that_throws(self) -> None:
        self.assertEqual(differentiable("f(Tensor x) -> Tensor", dispatch={"CPU": "f"}), "Yes")

    def test_out_is_never_connected(self) -> None:
        self.assertEqual(differentiable("f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"), "No")

    def test_formula(self) -> None:
        text = "f(Tensor self, Tensor index) -> Tensor"
        self.assertEqual(differentiable(text, [{"name": text, "self": "grad"}]), "Yes")
        self.assertEqual(differentiable(text, [{"name": text, "self, index": "grad"}]), "Yes")
        self.assertEqual(differentiable(text, [{"name": text, "self": "not_implemented(\"f\")"}]), "Yes")
        self.assertEqual(differentiable(text, [{"name": text, "self": "non_differentiable"}]), "No")
        self.assertEqual(differentiable(text, [{"name": text, "result": "self_t"}]), "No")
        self.assertEqual(differentiable(text, [{"name": text, "dispatch": {"Default": {"self": "grad"}}}]), "Yes")

    def test_output_differentiability(self) -> None:
        text = "f(Tensor self) -> (Tensor, Tensor)"
        for outputs, column in [([True, False], "Yes"), ([False, True], "Maybe"), ([False, False], "No"),
                                (["!dtype", False], "Maybe")]:
            row = {"name": text, "output_differentiability": outputs, "self": "grad"}
            self.assertEqual(differentiable(text, [row]), column, outputs)

    def test_formula_of_another_overload_is_not_taken(self) -> None:
        row = {"name": "f.Scalar(Tensor self, Scalar x) -> Tensor", "output_differentiability": [False]}
        self.assertEqual(differentiable("f.Tensor(Tensor self, Tensor x) -> Tensor", [row]), "Yes")

    def test_generated_variant_takes_the_formula_of_its_signature(self) -> None:
        row = {"name": "g.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
               "output_differentiability": [False]}
        self.assertEqual(differentiable("g(Tensor self, ScalarType dtype) -> Tensor", [row]), "No")

    def test_in_place_keeps_the_history(self) -> None:
        self.assertEqual(differentiable("eq_(Tensor(a!) self, Tensor other) -> Tensor(a!)", not_required=["eq"]),
                         "Yes")
        self.assertEqual(differentiable("detach_(Tensor(a!) self) -> Tensor(a!)"), "No")
        self.assertEqual(differentiable("_foreach_add_(Tensor(a!)[] self, Scalar x) -> ()"), "Yes")

    def test_torchgens_own_list(self) -> None:
        self.assertEqual(differentiable("argmax(Tensor self) -> Tensor", not_required=["argmax"],
                                        dispatch={"CPU": "f"}), "No")


class MergeTest(unittest.TestCase):
    def setUp(self) -> None:
        # The schemas here do not have all the names of the rules.
        self.check_rules, generate.check_rules = generate.check_rules, lambda functions: None
        self.operators, rules.OPERATORS = rules.OPERATORS, {}

    def tearDown(self) -> None:
        generate.check_rules, rules.OPERATORS = self.check_rules, self.operators

    def row(self, name: str, functions: Sequence[str | schema.Function], **arguments: Any) -> generate.Columns:
        return generate.build(source(functions, **arguments))[name]

    def test_equal_overloads(self) -> None:
        row = self.row("f", ["f(Tensor x) -> Tensor", function("f.y(Tensor x, int y) -> Tensor", variants="method")])
        self.assertEqual(row, ("Method | Function", "Tensor", "No", "NoArgument", "Yes", "No", ["Allocates"]))

    def test_differing_overloads(self) -> None:
        row = self.row("f", ["f(Tensor x) -> Tensor",
                             function("f.y(Tensor(a) x, int y) -> (Tensor(a), Tensor)", tags="dynamic_output_shape")],
                       derivatives=[{"name": "f(Tensor x) -> Tensor", "output_differentiability": [False]}])
        self.assertEqual(row, ("Function", "Mixed", "Maybe", "NoArgument", "Maybe", "Maybe", []))

    def test_some_flags_hold_for_all_and_some_for_any(self) -> None:
        row = self.row("f", [function("f(int x) -> Tensor", tags="nondeterministic_seeded"), "f.t(Tensor x) -> Tensor"])
        self.assertEqual(row[-1], ["Random", "Allocates"])

    def test_named_dimensions_are_left_out_unless_alone(self) -> None:
        row = self.row("any", [function("any(Tensor x) -> Tensor", dispatch={"CPU": "f"}),
                               f"any.dimname(Tensor x, {DIMENSIONS}) -> Tensor"],
                       derivatives=[{"name": "any(Tensor x) -> Tensor", "output_differentiability": [False]}])
        self.assertEqual(row[4], "No")
        self.assertEqual(self.row("rename", [f"rename(Tensor(a) x, {DIMENSIONS}) -> Tensor(a)"])[2], "Yes")

    def test_overloads_set_aside(self) -> None:
        row = self.row("where", ["where.self(Tensor condition, Tensor x) -> Tensor",
                                 "where(Tensor condition) -> Tensor[]"])
        self.assertEqual(row[1:6], ("Mixed", "No", "NoArgument", "Yes", "Maybe"))
        row = self.row("linspace", ["linspace(Scalar a) -> Tensor", "linspace.Tensor_Tensor(Tensor a) -> Tensor"])
        self.assertEqual(row[4:], ("No", "Maybe", ["Factory", "Allocates"]))

    def test_every_out_variant_gives_two_rows(self) -> None:
        table = generate.build(source(["f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"]))
        self.assertEqual(table["f_out"], table["f_outf"])
        self.assertNotIn("f", table)

    def test_operators(self) -> None:
        rules.OPERATORS = {"operator+=": ("add_", "Method")}
        table = generate.build(source([function("add_(Tensor(a!) self) -> Tensor(a!)", variants="function, method")]))
        self.assertEqual(table["operator+="], ("Method", *table["add_"][1:]))

    def test_rendering_is_sorted_and_complete(self) -> None:
        text = generate.render(generate.build(source(["b(Tensor x) -> Tensor", "a(int x) -> Tensor"])), "1.2.3")
        self.assertIn("LibTorch 1.2.3", text)
        self.assertLess(text.index('"a"'), text.index('"b"'))
        self.assertIn('OPERATION("a", Function, Tensor, No, NoArgument, No, No, Factory | Allocates)\n', text)
        self.assertIn('OPERATION("cpu", Method, Tensor, Maybe, NoArgument, Yes, Yes, ChangesDevice)\n', text)


class RulesTest(unittest.TestCase):
    def test_a_rule_for_a_name_that_is_gone_is_refused(self) -> None:
        with self.assertRaisesRegex(schema.SchemaError, "argwhere.*where"):
            generate.build(source(["f(Tensor x) -> Tensor"]))

    def test_no_contradictions(self) -> None:
        for one, other in [(rules.MAY_ALIAS, rules.ALWAYS_ALIAS), (rules.MAY_ALIAS, rules.NEVER_ALIAS),
                           (rules.NOT_CONNECTED, rules.MAYBE_CONNECTED), (rules.MAY_SYNC, rules.ALWAYS_SYNC)]:
            self.assertEqual(set(one) & set(other), set())

    def test_columns_written_by_hand_are_known(self) -> None:
        for name, (variants, result, view, writes, connected, sync, flags) in rules.HAND_WRITTEN.items():
            self.assertIn(variants, ("Method", "Function", "Method | Function"), name)
            self.assertIn(result, ("Tensor", "Tensors", "Scalar", "Nothing", "Mixed"), name)
            self.assertIn(writes, ("NoArgument", "Self", "Out", "Other"), name)
            self.assertLessEqual({view, connected, sync}, {"Yes", "No", "Maybe"}, name)
            self.assertLessEqual(set(flags), set(generate.FLAGS), name)


class CommandTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        self.table = os.path.join(self.root, "table.inc")
        self.write(schema.VERSION, "__version__ = '9.8.7'\n")
        self.write(schema.TAGS, "- tag: core\n  desc: none\n")
        self.write(schema.FUNCTIONS, "- func: f(Tensor self) -> Tensor\n  variants: method\n  tags: core\n")
        self.write(schema.DERIVATIVES, "- name: f(Tensor self) -> Tensor\n  self: grad\n")
        self.write(schema.VARIABLE_TYPE, "DONT_REQUIRE_DERIVATIVE = {'argmax'}\n")
        self.check_rules, generate.check_rules = generate.check_rules, lambda functions: None
        self.operators, rules.OPERATORS = rules.OPERATORS, {}

    def tearDown(self) -> None:
        generate.check_rules, rules.OPERATORS = self.check_rules, self.operators

    def write(self, path: str, text: str) -> None:
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def run_main(self, *arguments: str) -> tuple[int, str, str]:
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            code = generate.main(["--libtorch", self.root, "--output", self.table, *arguments])
        return code, out.getvalue(), error.getvalue()

    def test_writes_then_agrees_then_is_stale(self) -> None:
        self.assertEqual(self.run_main(), (0, "", ""))
        self.assertEqual(self.run_main("--check"), (0, "", ""))
        self.write(schema.FUNCTIONS, "- func: g(Tensor self) -> Tensor\n")
        code, out, error = self.run_main("--check")
        self.assertEqual(code, 1)
        self.assertIn('\n-OPERATION("f", Method, ', out)
        self.assertIn('\n+OPERATION("g", Function, ', out)
        self.assertIn("stale", error)

    def test_check_writes_nothing(self) -> None:
        code, _, error = self.run_main("--check")
        self.assertEqual(code, 2)
        self.assertIn(f"{self.table}: No such file", error)
        self.assertFalse(os.path.exists(self.table))

    def test_not_a_wheel(self) -> None:
        os.remove(os.path.join(self.root, schema.DERIVATIVES))
        code, _, error = self.run_main()
        self.assertEqual(code, 2)
        self.assertRegex(error, r"error: cannot read .*derivatives.yaml: No such file.*torchgen")
        self.assertFalse(os.path.exists(self.table))

    def test_broken_input(self) -> None:
        self.write(schema.FUNCTIONS, "- func: [\n")
        self.assertRegex(self.run_main()[2], "native_functions.yaml is not valid YAML")
        self.write(schema.FUNCTIONS, "func: f\n")
        self.assertRegex(self.run_main()[2], "native_functions.yaml is not a list of rows")
        self.write(schema.FUNCTIONS, "- func: f(Tensor self\n")
        self.assertRegex(self.run_main()[2], "cannot parse the schema")

    def test_without_pyyaml(self) -> None:
        with unittest.mock.patch.dict(sys.modules, {"yaml": None}):
            code, _, error = self.run_main()
        self.assertEqual(code, 2)
        self.assertIn("apt-get install python3-yaml", error)


if __name__ == "__main__":
    unittest.main()
