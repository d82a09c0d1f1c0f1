"""One function, record or constant of Python as JavaScript; `translate` says what of Python is known."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from motecrypt.present.report.translate_source import (
    SourceModule,
    Untranslatable,
    is_module,
    is_own,
    local_names,
    parameters,
    stored,
)

#: Of Python itself: how it is called, and the keywords that it may get.
BUILTINS = {
    "abs": ("Math.abs", ()),
    "all": ("$.all", ()),
    "any": ("$.any", ()),
    "bool": ("$.truth", ()),
    "dict": ("$.dict", ()),
    "dict.fromkeys": ("$.Dict.fromkeys", ()),
    "divmod": ("$.divmod", ()),
    "enumerate": ("$.enumerate", ("start",)),
    "float": ("$.float", ()),
    "int": ("$.int", ()),
    "itertools.pairwise": ("$.pairwise", ()),
    "len": ("$.len", ()),
    "list": ("$.list", ()),
    "math.ceil": ("Math.ceil", ()),
    "math.comb": ("$.comb", ()),
    "range": ("$.range", ()),
    "re.compile": ("$.pattern", ()),
    "set": ("$.set", ()),
    "sorted": ("$.sorted", ("key",)),
    "str": ("$.str", ()),
    "sum": ("$.sum", ()),
    "tuple": ("$.list", ()),
    "zip": ("$.zip", ("strict",)),
}
EXTREMES = {"max": 1, "min": -1}
METHODS = {
    *("append", "fullmatch", "get", "index", "items", "join", "keys", "lower", "replace", "setdefault"),
    *("startswith", "strip", "upper", "values"),
}
OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.BitOr: "bitor",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Mult: "mul",
    ast.Sub: "sub",
}
ORDERS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
#: Formats that give the same text in both languages.
FORMAT = re.compile(r",?(\.(\d+|\$\{.*\}))?[dfg]")
#: Words that JavaScript keeps for itself.
RESERVED = {
    *("arguments", "case", "catch", "const", "default", "delete", "do", "enum", "eval", "export", "extends"),
    *(
        "function",
        "implements",
        "instanceof",
        "interface",
        "let",
        "new",
        "null",
        "package",
        "private",
        "public",
    ),
    *("protected", "static", "super", "switch", "this", "throw", "typeof", "var", "void"),
}


class Known(Protocol):
    """What a definition needs of the others."""

    def global_name(self, dotted: str) -> str:
        """How JavaScript names a definition of the project."""

    def definition(self, dotted: str) -> tuple[SourceModule, ast.stmt]:
        """Its module and its source."""

    def record_fields(self, dotted: str) -> dict[str, tuple[SourceModule, ast.expr | None]]:
        """The fields of a record and of its bases, each with its default and where that is written."""


class Translator:
    """One definition of a module as JavaScript."""

    def __init__(self, program: Known, module: SourceModule) -> None:
        self._program = program
        self._module = module
        self._scopes: list[set[str]] = []

    def definition(self, node: ast.stmt, name: str) -> list[str]:
        """The lines that define it under that name."""
        if isinstance(node, ast.FunctionDef):
            return self._module_function(node, name)
        if isinstance(node, ast.ClassDef):
            return self._record(node, name)
        assert isinstance(node, ast.Assign | ast.AnnAssign)
        if node.value is None:
            raise self._unknown(node)
        return [f"const {name} = {self._value(node.value)};"]

    # --- definitions ---

    def _module_function(self, node: ast.FunctionDef, name: str) -> list[str]:
        lines = self._function(node, name)
        kept = [self._dotted(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list]
        if not kept:
            return lines
        if kept != ["functools.lru_cache"]:
            raise self._unknown(node)
        return [f"const {name} = $.cached({lines[0]}", *lines[1:-1], f"{lines[-1]});"]

    def _function(self, node: ast.FunctionDef, name: str) -> list[str]:
        if node.args.vararg or node.args.kwarg or node.args.posonlyargs:
            raise self._unknown(node)
        defaults = parameters(node)
        given = [
            _safe(one) if value is None else f"{_safe(one)}={self._value(value)}"
            for one, value in defaults.items()
        ]
        return [f"function {name}({','.join(given)}){{", *self._body(node.body, defaults), "}"]

    def _body(self, body: Sequence[ast.stmt], taken: Iterable[str]) -> list[str]:
        """What is between a function's braces. Python's names are the whole function's."""
        assigned = local_names(body)
        inner = {one.name for one in ast.walk(ast.Module(list(body), [])) if isinstance(one, ast.FunctionDef)}
        self._scopes.append({*taken, *assigned, *inner})
        new = sorted(assigned - set(taken))
        lines = [f"let {','.join(map(_safe, new))};"] if new else []
        lines += self._block(body)
        self._scopes.pop()
        return lines

    def _record(self, node: ast.ClassDef, name: str) -> list[str]:
        """A dataclass or a named tuple: its fields, defaults and properties."""
        base = "$.Struct"
        for parent in node.bases:
            dotted = self._dotted(parent)
            base = "$.NamedTuple" if dotted == "typing.NamedTuple" else self._program.global_name(dotted)
        fields = self._program.record_fields(f"{self._module.name}.{node.name}")
        defaults = [
            f"{key}:{Translator(self._program, module)._value(value)}"
            for key, (module, value) in fields.items()
            if value is not None
        ]
        lines = [
            f"class {name} extends {base}{{",
            f"static fields={json.dumps(list(fields), separators=(',', ':'))};",
            *([f"static defaults={{{','.join(defaults)}}};"] if defaults else []),
        ]
        for one in node.body:
            if isinstance(one, ast.FunctionDef) and "property" in map(ast.unparse, one.decorator_list):
                lines += [f"get {one.name}() {{", "const self = this;", *self._body(one.body, ["self"]), "}"]
        return [*lines, "}"]

    # --- statements ---

    def _block(self, body: Sequence[ast.stmt]) -> list[str]:
        return [line for statement in body for line in self._statement(statement)]

    def _statement(self, node: ast.stmt) -> list[str]:
        match node:
            case ast.Expr(ast.Constant(str())) | ast.Pass():
                return []
            case ast.Expr(value):
                return [f"{self._value(value)};"]
            case ast.Return(value):
                return [f"return {self._value(value) if value else 'null'};"]
            case ast.Assign(targets, value):
                return [self._assignment(targets, self._value(value))]
            case ast.AnnAssign(target, _, ast.expr() as value):
                return [self._assignment([target], self._value(value))]
            case ast.AugAssign(target, operator, value):
                made = self._operation(node, target, operator, value)
                return [self._assignment([target], made)]
            case ast.If(test, body, otherwise):
                lines = [f"if({self._truth(test)}){{", *self._block(body), "}"]
                return lines + (["else {", *self._block(otherwise), "}"] if otherwise else [])
            case ast.While(test, body, []):
                return [f"while({self._truth(test)}){{", *self._block(body), "}"]
            case ast.For(target, values, body, []):
                return [f"for({self._target(target)} of {self._value(values)}){{", *self._block(body), "}"]
            case ast.Continue():
                return ["continue;"]
            case ast.Break():
                return ["break;"]
            case ast.Raise(ast.Call(ast.Name("InputError"), [text], [])):
                return [f"throw new $.InputError({self._value(text)});"]
            case ast.FunctionDef(decorator_list=[]):
                return self._function(node, _safe(node.name))
        raise self._unknown(node)

    def _assignment(self, targets: Sequence[ast.expr], value: str) -> str:
        match targets:
            case [ast.Subscript(values, key)]:
                return f"$.put({self._value(values)},{self._value(key)},{value});"
        return f"{'='.join(map(self._target, targets))}={value};"

    def _target(self, node: ast.expr) -> str:
        match node:
            case ast.Name(name):
                return _safe(name)
            case ast.Tuple(parts) | ast.List(parts):
                if any(isinstance(one, ast.Starred) for one in parts[:-1]):
                    raise self._unknown(node)
                return f"[{','.join(map(self._target, parts))}]"
            case ast.Starred(ast.Name(name)):
                return f"...{_safe(name)}"
        raise self._unknown(node)

    # --- values ---

    def _value(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value):
                return self._constant(node, value)
            case ast.Name():
                return self._name(node)
            case ast.Attribute(value, name):
                dotted = self._dotted(node)
                if dotted:
                    return self._outer(node, dotted)
                return f"{self._value(value)}.{name}"
            case ast.JoinedStr(parts):
                return "`" + "".join(map(self._piece, parts)) + "`"
            case ast.Tuple(parts) | ast.List(parts):
                return f"[{','.join(map(self._value, parts))}]"
            case ast.Set(parts):
                return f"$.set([{','.join(map(self._value, parts))}])"
            case ast.Dict(keys, values):
                return f"$.dict([{','.join(map(self._pair, keys, values))}])"
            case ast.Starred(value):
                return f"...{self._value(value)}"
            case ast.Subscript(value, ast.Slice(lower, upper, None)):
                ends = [self._value(one) if one else "undefined" for one in (lower, upper)]
                return f"{self._value(value)}.slice({','.join(ends)})"
            case ast.Subscript(value, key):
                return f"$.at({self._value(value)},{self._value(key)})"
            case ast.BinOp(left, operator, right):
                return self._operation(node, left, operator, right)
            case ast.UnaryOp(ast.USub(), value):
                return f"-({self._value(value)})"
            case ast.UnaryOp(ast.Not(), value):
                return f"!({self._truth(value)})"
            case ast.Compare():
                return self._comparison(node)
            case ast.BoolOp(operator, [first, *rest]):
                kind = "or" if isinstance(operator, ast.Or) else "and"
                value = self._value(first)
                for one in rest:
                    value = f"$.{kind}({value}, ()=>{self._value(one)})"
                return value
            case ast.IfExp(test, value, otherwise):
                return f"({self._truth(test)}?{self._value(value)}:{self._value(otherwise)})"
            case ast.NamedExpr(target, value):
                return f"({self._target(target)}={self._value(value)})"
            case ast.Lambda(args, value):
                names = [one.arg for one in args.args]
                self._scopes.append(set(names))
                text = f"(({','.join(map(_safe, names))})=>{self._value(value)})"
                self._scopes.pop()
                return text
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                return self._comprehension(node)
            case ast.Call():
                return self._call(node)
        raise self._unknown(node)

    def _constant(self, node: ast.expr, value: object) -> str:
        if value is None:
            return "null"
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, str):
            return json.dumps(value, ensure_ascii=False)
        if isinstance(value, int | float):
            return repr(value)
        raise self._unknown(node)

    def _pair(self, key: ast.expr | None, value: ast.expr) -> str:
        if key is None:
            return f"...{self._value(value)}.items()"
        return f"[{self._value(key)},{self._value(value)}]"

    def _piece(self, node: ast.expr) -> str:
        """A part of an f-string."""
        match node:
            case ast.Constant(str() as text):
                return re.sub(r"([`\\]|\$\{)", r"\\\1", text)
            case ast.FormattedValue(value, -1, None):
                return f"${{$.text({self._value(value)})}}"
            case ast.FormattedValue(value, -1, ast.JoinedStr(parts)):
                form = "".join(map(self._form, parts))
                if FORMAT.fullmatch(form):
                    return f"${{$.format({self._value(value)}, `{form}`)}}"
        raise self._unknown(node)

    def _form(self, node: ast.expr) -> str:
        if isinstance(node, ast.FormattedValue):
            return f"${{{self._value(node.value)}}}"
        return ast.literal_eval(node) if isinstance(node, ast.Constant) else ""

    def _operation(self, node: ast.AST, left: ast.expr, operator: ast.operator, right: ast.expr) -> str:
        a, b = self._value(left), self._value(right)
        if isinstance(operator, ast.Mult) and isinstance(left, ast.List | ast.Tuple):
            return f"$.repeat({a},{b})"
        if type(operator) in OPERATORS:
            return f"$.{OPERATORS[type(operator)]}({a},{b})"
        raise self._unknown(node)

    def _comparison(self, node: ast.Compare) -> str:
        values = [node.left, *node.comparators]
        steps = zip(values, node.ops, values[1:], strict=False)
        text = "&&".join(self._compared(a, operator, b) for a, operator, b in steps)
        return f"({text})" if len(node.ops) > 1 else text

    def _compared(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> str:
        a, b = (
            f"({self._value(one)})" if isinstance(one, ast.Compare) else self._value(one)
            for one in (left, right)
        )
        if type(operator) in ORDERS:
            return f"$.compare({a},{b}){ORDERS[type(operator)]}0"
        simple = isinstance(left, ast.Constant) or isinstance(right, ast.Constant)
        if isinstance(operator, ast.Is | ast.IsNot) or (simple and isinstance(operator, ast.Eq | ast.NotEq)):
            return f"{a}{'===' if isinstance(operator, ast.Is | ast.Eq) else '!=='}{b}"
        if isinstance(operator, ast.Eq | ast.NotEq):
            return f"{'' if isinstance(operator, ast.Eq) else '!'}$.same({a},{b})"
        return f"{'' if isinstance(operator, ast.In) else '!'}$.has({b},{a})"

    def _truth(self, node: ast.expr) -> str:
        """What Python takes for true, as what JavaScript does."""
        match node:
            case ast.Compare() | ast.UnaryOp(ast.Not(), _):
                return self._value(node)
            case ast.BoolOp(operator, values):
                sign = "||" if isinstance(operator, ast.Or) else "&&"
                return f"({sign.join(map(self._truth, values))})"
        return f"$.truth({self._value(node)})"

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp) -> str:
        made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        text = self._loops(node.generators, made)
        kind = {ast.SetComp: "$.set", ast.DictComp: "$.dict"}.get(type(node))
        return f"{kind}({text})" if kind else text

    def _loops(self, loops: Sequence[ast.comprehension], made: Sequence[ast.expr]) -> str:
        first, *rest = loops
        values = self._value(first.iter)
        self._scopes.append(stored(ast.walk(first.target)))
        target = self._target(first.target)
        tests = "&&".join(map(self._truth, first.ifs))
        if rest:
            inner = self._loops(rest, made)
        else:
            inner = self._value(made[0]) if len(made) == 1 else f"[{','.join(map(self._value, made))}]"
        self._scopes.pop()
        if not rest and not tests:
            return f"Array.from({values}, ({target})=>{inner})"
        inner = inner if rest else f"[{inner}]"
        return f"Array.from({values}).flatMap(({target})=>{f'{tests}?{inner}:[]' if tests else inner})"

    # --- names and calls ---

    def _name(self, node: ast.Name) -> str:
        if any(node.id in scope for scope in self._scopes):
            return _safe(node.id)
        return self._outer(node, self._dotted(node))

    def _dotted(self, node: ast.expr) -> str:
        """The whole name of what is not a local value: "math.ceil", "motecrypt.adviser.shown.days", "len";
        empty for a value."""
        if isinstance(node, ast.Attribute):
            home = self._dotted(node.value)
            return f"{home}.{node.attr}" if home and (is_module(home) or home == "dict") else ""
        if not isinstance(node, ast.Name) or any(node.id in scope for scope in self._scopes):
            return ""
        if node.id in self._module.defined:
            return f"{self._module.name}.{node.id}"
        return self._module.imported.get(node.id, node.id)

    def _outer(self, node: ast.expr, dotted: str) -> str:
        """What is defined outside of a function."""
        if dotted == "math.inf":
            return "Infinity"
        if dotted in BUILTINS:
            return BUILTINS[dotted][0]
        if is_own(dotted):
            return self._program.global_name(dotted)
        raise self._unknown(node)

    def _call(self, node: ast.Call) -> str:
        dotted = self._dotted(node.func)
        given = list(map(self._value, node.args))
        named = {one.arg: one.value for one in node.keywords}
        if isinstance(node.func, ast.Attribute) and not dotted:
            return self._method(node, node.func, given)
        if dotted in EXTREMES:
            values = given[0] if len(given) == 1 else f"[{','.join(given)}]"
            return f"$.extreme({values}, {EXTREMES[dotted]}{self._keywords(node, ('key', 'default'))})"
        if dotted in BUILTINS:
            name, known = BUILTINS[dotted]
            return f"{name}({','.join(given)}{self._keywords(node, known)})"
        if dotted == "dataclasses.replace":
            return f"$.replace({given[0]}, {self._fields(named, node)})"
        if is_own(dotted):
            return self._own_call(node, dotted, given)
        if not dotted and not named:  # a function that is a local value
            return f"{self._value(node.func)}({','.join(given)})"
        raise self._unknown(node)

    def _keywords(self, node: ast.Call, known: Sequence[str]) -> str:
        """The keywords for a function of `python.js`, as its last argument."""
        if any(one.arg not in known for one in node.keywords):
            raise self._unknown(node)
        pairs = [f"{one.arg}:{self._value(one.value)}" for one in node.keywords if one.arg != "strict"]
        return f",{{{','.join(pairs)}}}" if pairs else ""

    def _method(self, node: ast.Call, called: ast.Attribute, given: Sequence[str]) -> str:
        value = self._value(called.value)
        if called.attr == "_replace" and not given:
            return f"$.replace({value}, {self._fields({one.arg: one.value for one in node.keywords}, node)})"
        if called.attr not in METHODS or node.keywords:
            raise self._unknown(node)
        return f"$.methods.{called.attr}({','.join([value, *given])})"

    def _own_call(self, node: ast.Call, dotted: str, given: Sequence[str]) -> str:
        """A function or a record of ours: keywords are put at their places."""
        name = self._program.global_name(dotted)
        _, source = self._program.definition(dotted)
        named = {one.arg: one.value for one in node.keywords}
        if isinstance(source, ast.ClassDef):
            fields = list(self._program.record_fields(dotted))
            if any(isinstance(one, ast.Starred) for one in node.args) or len(given) > len(fields):
                raise self._unknown(node)
            placed = [_member(key, value) for key, value in zip(fields, given, strict=False)]
            return f"new {name}({self._fields(named, node, placed)})"
        if not isinstance(source, ast.FunctionDef):
            raise self._unknown(node)
        taken = list(parameters(source))[len(given) :]
        if not set(named) <= set(taken):
            raise self._unknown(node)
        placed = [self._value(named[one]) if one in named else "undefined" for one in taken]
        while placed and placed[-1] == "undefined":
            placed.pop()
        return f"{name}({','.join([*given, *placed])})"

    def _fields(self, named: dict[str | None, ast.expr], node: ast.Call, placed: Sequence[str] = ()) -> str:
        """Keywords as an object; `**` of a dictionary is spread."""
        if sum(one.arg is None for one in node.keywords) > 1:
            raise self._unknown(node)
        pairs = [
            f"...$.fields({self._value(value)})" if key is None else _member(key, self._value(value))
            for key, value in named.items()
        ]
        return f"{{{','.join([*placed, *pairs])}}}"

    def _unknown(self, node: ast.AST) -> Untranslatable:
        where = f"{self._module.path}:{getattr(node, 'lineno', 0)}"
        return Untranslatable(f"{where}: cannot be made JavaScript: {ast.unparse(node).splitlines()[0]}")


def _member(key: str, value: str) -> str:
    """A member of an object."""
    return key if key == value else f"{key}:{value}"


def _safe(name: str) -> str:
    return f"{name}_" if name in RESERVED else name
