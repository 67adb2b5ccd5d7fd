"""Follow the assignments of a Python file symbolically: what names stand for, never what code does.

Branches whose test is not known are skipped, so that the unconditional value is reported; loops are skipped;
functions of the file are followed with their arguments, a few levels deep.
"""

from __future__ import annotations

import ast
from typing import Any

from etl.importers.documents import Document
from etl.importers.problems import ImporterError
from etl.importers.pystatic import (
    BUILTINS,
    COMPARE,
    MAX_NESTING,
    Node,
    Symbol,
    Unknown,
    Val,
    arithmetic,
    depth,
    dotted,
    small,
)

MAX_STEPS = 50_000
MAX_CALLS = 8
MAX_ITEMS = 5_000
FLUENT = ("with_", "merge", "validate")
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Program:
    """The names of a Python file and the nodes its calls make.

    `names` are the module's own names after its last line, `functions` those it defines at the top level, `nodes`
    every call met, in order. `call` follows one of the functions and returns what it returns.
    """

    def __init__(self, document: Document) -> None:
        tree = document.syntax
        if depth(tree) > MAX_NESTING:
            raise ImporterError(f"{document.name} nests deeper than {MAX_NESTING} levels; no config looks like that")
        self.nodes: list[Node] = []
        self.functions = {s.name: s for s in tree.body if isinstance(s, Function)}
        self.classes = {s.name: s for s in tree.body if isinstance(s, ast.ClassDef)}
        self.names: dict[str, Val] = {}
        self.steps = 0
        self.calls = 0
        self._body(tree.body, self.names)

    def call(self, name: str, given: dict[str, Val] | None = None) -> Val:
        """What a function of the file returns, its missing arguments at their defaults."""
        function = self.functions[name]
        if self.calls >= MAX_CALLS:
            return Val(Unknown(), function.lineno)
        scope = self._defaults(function) | (given or {})
        self.calls += 1
        result = self._body(function.body, scope)
        self.calls -= 1
        return result or Val(None, function.lineno)

    def _defaults(self, function: Function) -> dict[str, Val]:
        """Arguments by name: the default where there is one, unknown where there is none."""
        scope: dict[str, Val] = {}
        ordered = [*function.args.posonlyargs, *function.args.args]
        missing: list[ast.expr | None] = [None] * (len(ordered) - len(function.args.defaults))
        pairs = [*zip(ordered, [*missing, *function.args.defaults], strict=True)]
        pairs += zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
        for argument, default in pairs:
            known = default is not None
            scope[argument.arg] = self._eval(default, self.names) if known else Val(Unknown(), argument.lineno)
        return scope

    def _body(self, body: list[ast.stmt], scope: dict[str, Val]) -> Val | None:
        """Run through statements; the returned value, or None when none returns."""
        for statement in body:
            self.steps += 1
            if self.steps > MAX_STEPS:
                return None
            result = self._statement(statement, scope)
            if result is not None:
                return result
        return None

    def _statement(self, node: ast.stmt, scope: dict[str, Val]) -> Val | None:
        if isinstance(node, ast.Return):
            return self._eval(node.value, scope) if node.value else Val(None, node.lineno)
        if isinstance(node, ast.Assign):
            value = self._eval(node.value, scope)
            for target in node.targets:
                self._assign(target, value, scope)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._assign(node.target, self._eval(node.value, scope), scope)
        elif isinstance(node, ast.AugAssign):
            self._assign(node.target, self._augmented(node, scope), scope)
        elif isinstance(node, ast.Expr):
            self._eval(node.value, scope)
        elif isinstance(node, ast.If):
            return self._branch(node, scope)
        elif isinstance(node, ast.With | ast.Try):
            return self._body(node.body, scope)
        return None

    def _augmented(self, node: ast.AugAssign, scope: dict[str, Val]) -> Val:
        left, right = self._eval(node.target, scope), self._eval(node.value, scope)
        return Val(arithmetic(node.op, left.value, right.value), node.lineno)

    def _branch(self, node: ast.If, scope: dict[str, Val]) -> Val | None:
        test = self._eval(node.test, scope).value
        if dotted_main(node.test):
            return self._body(node.body, scope)
        if isinstance(test, Unknown | Symbol | Node):
            return None
        return self._body(node.body if test else node.orelse, scope)

    def _assign(self, target: ast.expr, value: Val, scope: dict[str, Val]) -> None:
        if isinstance(target, ast.Name):
            scope[target.id] = Val(value.value, value.line, value.fallback)
        elif isinstance(target, ast.Attribute | ast.Subscript):
            owner, key = self._eval(target.value, scope, create=True).value, self._key(target, scope)
            if isinstance(owner, Node) and key is not None:
                owner.fields[key] = value
        elif isinstance(target, ast.Tuple) and isinstance(value.value, list) and len(value.value) == len(target.elts):
            for element, part in zip(target.elts, value.value, strict=True):
                self._assign(element, part, scope)

    def _key(self, target: ast.Attribute | ast.Subscript, scope: dict[str, Val]) -> str | None:
        if isinstance(target, ast.Attribute):
            return target.attr
        key = self._eval(target.slice, scope).value
        return key if isinstance(key, str) else None

    def _eval(self, node: ast.expr, scope: dict[str, Val], create: bool = False) -> Val:
        self.steps += 1
        if self.steps > MAX_STEPS:
            return Val(Unknown(), node.lineno)
        method = getattr(self, f"_eval_{type(node).__name__.lower()}", None)
        if method is None:
            return Val(Unknown(), node.lineno)
        result: Val = method(node, scope, create)
        return result

    def _eval_constant(self, node: ast.Constant, scope: dict[str, Val], create: bool) -> Val:
        huge = isinstance(node.value, int) and not small(node.value) and not isinstance(node.value, bool)
        return Val(Unknown() if huge else node.value, node.lineno)

    def _eval_name(self, node: ast.Name, scope: dict[str, Val], create: bool) -> Val:
        known = scope.get(node.id) or self.names.get(node.id)
        if known is None:
            return Val(Symbol(node.id), node.lineno)
        if create and not isinstance(known.value, Node):
            known = scope[node.id] = Val(Node(node.id, node.lineno), node.lineno)
        return known

    def _eval_attribute(self, node: ast.Attribute, scope: dict[str, Val], create: bool) -> Val:
        name = dotted(node)
        owner = self._eval(node.value, scope, create)
        if isinstance(owner.value, Node):
            if node.attr not in owner.value.fields and create:
                owner.value.fields[node.attr] = Val(Node(name or node.attr, node.lineno), node.lineno)
            return owner.value.fields.get(node.attr) or Val(Unknown(), node.lineno)
        return Val(Symbol(name), node.lineno) if name and isinstance(owner.value, Symbol) else Val(Unknown(), node.lineno)

    def _eval_subscript(self, node: ast.Subscript, scope: dict[str, Val], create: bool) -> Val:
        owner, key = self._eval(node.value, scope).value, self._eval(node.slice, scope).value
        if isinstance(owner, Node) and isinstance(key, str):
            return owner.fields.get(key) or Val(Unknown(), node.lineno)
        if isinstance(owner, list) and isinstance(key, int) and not isinstance(key, bool) and -len(owner) <= key < len(owner):
            part: Val = owner[key]
            return part
        return Val(Unknown(), node.lineno)

    def _eval_list(self, node: ast.List | ast.Tuple | ast.Set, scope: dict[str, Val], create: bool) -> Val:
        return Val([self._eval(e, scope) for e in node.elts[:MAX_ITEMS]], node.lineno)

    _eval_tuple = _eval_list

    def _eval_dict(self, node: ast.Dict, scope: dict[str, Val], create: bool) -> Val:
        made = Node("dict", node.lineno)
        for key, value in zip(node.keys, node.values, strict=True):
            item = self._eval(value, scope)
            if key is None:
                made.fields.update(item.value.fields if isinstance(item.value, Node) else {})
            elif isinstance(name := self._eval(key, scope).value, str):
                made.fields[name] = item
        return Val(made, node.lineno)

    def _eval_unaryop(self, node: ast.UnaryOp, scope: dict[str, Val], create: bool) -> Val:
        value = self._eval(node.operand, scope)
        if isinstance(node.op, ast.Not) and not isinstance(value.value, Unknown | Symbol | Node):
            return Val(not value.value, node.lineno)
        negative = isinstance(node.op, ast.USub) and small(value.value)
        return Val(-value.value if negative else Unknown(), node.lineno, value.fallback)

    def _eval_binop(self, node: ast.BinOp, scope: dict[str, Val], create: bool) -> Val:
        left, right = self._eval(node.left, scope), self._eval(node.right, scope)
        return Val(arithmetic(node.op, left.value, right.value), node.lineno, left.fallback or right.fallback)

    def _eval_boolop(self, node: ast.BoolOp, scope: dict[str, Val], create: bool) -> Val:
        """`x or 4096` with an unknown x stands for 4096, marked as a fallback."""
        values = [self._eval(v, scope) for v in node.values]
        last = values[-1]
        if any(isinstance(v.value, Unknown | Symbol | Node) for v in values[:-1]):
            return Val(last.value if isinstance(node.op, ast.Or) else Unknown(), last.line, True)
        for value in values[:-1]:
            if bool(value.value) == isinstance(node.op, ast.Or):
                return value
        return last

    def _eval_compare(self, node: ast.Compare, scope: dict[str, Val], create: bool) -> Val:
        left, right = self._eval(node.left, scope).value, self._eval(node.comparators[0], scope).value
        action = COMPARE.get(type(node.ops[0]))
        vague = any(isinstance(v, Unknown | Symbol | Node | list) for v in (left, right))
        if action is None or len(node.ops) > 1 or vague:
            return Val(Unknown(), node.lineno)
        try:
            return Val(bool(action(left, right)), node.lineno)
        except TypeError:
            return Val(Unknown(), node.lineno)

    def _eval_ifexp(self, node: ast.IfExp, scope: dict[str, Val], create: bool) -> Val:
        test = self._eval(node.test, scope).value
        if isinstance(test, Unknown | Symbol | Node):
            return Val(Unknown(), node.lineno)
        return self._eval(node.body if test else node.orelse, scope)

    def _eval_call(self, node: ast.Call, scope: dict[str, Val], create: bool) -> Val:
        name = dotted(node.func) or ""
        args = [self._eval(a, scope) for a in node.args[:MAX_ITEMS]]
        given = self._keywords(node, scope)
        if name in BUILTINS and args and all(small(a.value) for a in args):
            return Val(BUILTINS[name](*(a.value for a in args)), node.lineno, any(a.fallback for a in args))
        if name in self.functions:
            return self._follow(name, args, given, node)
        if isinstance(node.func, ast.Attribute) and node.func.attr.startswith(FLUENT):
            owner = self._eval(node.func.value, scope)
            if isinstance(owner.value, Node):
                return owner
        made = Node(name or getattr(node.func, "attr", "call"), node.lineno, tuple(args), given)
        self.nodes.append(made)
        return Val(made, node.lineno)

    def _keywords(self, node: ast.Call, scope: dict[str, Val]) -> dict[str, Val]:
        given: dict[str, Val] = {}
        for keyword in node.keywords[:MAX_ITEMS]:
            value = self._eval(keyword.value, scope)
            if keyword.arg is not None:
                given[keyword.arg] = Val(value.value, value.line, value.fallback)
            elif isinstance(value.value, Node):
                given.update(value.value.fields)
        return given

    def _follow(self, name: str, args: list[Val], given: dict[str, Val], node: ast.Call) -> Val:
        """Call a function of the file with its arguments bound by position and by name."""
        function = self.functions[name]
        places = [a.arg for a in [*function.args.posonlyargs, *function.args.args]]
        bound = dict(zip(places, args, strict=False)) | {k: v for k, v in given.items() if k in places or _keyword(function, k)}
        if function.args.kwarg is not None:
            rest = {k: v for k, v in given.items() if k not in bound}
            bound[function.args.kwarg.arg] = Val(Node("dict", node.lineno, (), rest), node.lineno)
        return self.call(name, bound)


def _keyword(function: Function, name: str) -> bool:
    return any(a.arg == name for a in function.args.kwonlyargs)


def dotted_main(test: ast.expr) -> bool:
    """True for ``__name__ == "__main__"``."""
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
