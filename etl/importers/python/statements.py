"""Follow the assignments of a Python file symbolically: what names stand for, never what code does.

Branches whose test is not known are skipped, so that the unconditional value is reported; loops are skipped;
functions of the file are followed with their arguments, a few levels deep.
"""

from __future__ import annotations

import ast

from etl.importers.problems import ImporterError
from etl.importers.python.expressions import MAX_STEPS, Evaluator, Function
from etl.importers.python.static import MAX_NESTING, Node, Symbol, Unknown, Val, arithmetic, depth
from etl.importers.read.documents import Document

MAX_CALLS = 8


class Program(Evaluator):
    """The names of a Python file and the nodes its calls make.

    `names` are the module's own names after its last line, `functions` those it defines at the top level, `nodes`
    every call met, in order. `call` follows one of the functions and returns what it returns.
    """

    def __init__(self, document: Document) -> None:
        tree = document.syntax
        if depth(tree) > MAX_NESTING:
            raise ImporterError(f"{document.name} nests deeper than {MAX_NESTING} levels; no config looks like that")
        super().__init__()
        self.functions = {s.name: s for s in tree.body if isinstance(s, Function)}
        self.classes = {s.name: s for s in tree.body if isinstance(s, ast.ClassDef)}
        self.calls = 0
        self._body(tree.body, self.names)

    def call(self, name: str, given: dict[str, Val] | None = None) -> Val:
        """What a function of the file returns, its missing arguments at their defaults."""
        function = self.functions[name]
        if self.calls >= MAX_CALLS:
            return Val(Unknown(), function.lineno)
        scope = self.defaults(function) | (given or {})
        self.calls += 1
        result = self._body(function.body, scope)
        self.calls -= 1
        return result or Val(None, function.lineno)

    def defaults(self, function: Function) -> dict[str, Val]:
        """Arguments by name: the default where there is one, unknown where there is none."""
        scope: dict[str, Val] = {}
        ordered = [*function.args.posonlyargs, *function.args.args]
        missing: list[ast.expr | None] = [None] * (len(ordered) - len(function.args.defaults))
        pairs = [*zip(ordered, [*missing, *function.args.defaults], strict=True)]
        pairs += zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
        for argument, default in pairs:
            unknown = Val(Unknown(), argument.lineno)
            scope[argument.arg] = unknown if default is None else self._eval(default, self.names)
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
            owner, key = self._owner(target.value, scope), self._key(target, scope)
            if owner is not None and key is not None:
                owner.fields[key] = value
        elif isinstance(target, ast.Tuple) and isinstance(value.value, list) and len(value.value) == len(target.elts):
            for element, part in zip(target.elts, value.value, strict=True):
                self._assign(element, part, scope)

    def _key(self, target: ast.Attribute | ast.Subscript, scope: dict[str, Val]) -> str | None:
        if isinstance(target, ast.Attribute):
            return target.attr
        key = self._eval(target.slice, scope).value
        return key if isinstance(key, str) else None

    def follow(self, name: str, args: list[Val], given: dict[str, Val], line: int) -> Val:
        """Call a function of the file with its arguments bound by position and by name."""
        function = self.functions[name]
        places = [a.arg for a in [*function.args.posonlyargs, *function.args.args]]
        bound = dict(zip(places, args, strict=False)) | {
            k: v for k, v in given.items() if k in places or _keyword(function, k)
        }
        if function.args.kwarg is not None:
            rest = {k: v for k, v in given.items() if k not in bound}
            bound[function.args.kwarg.arg] = Val(Node("dict", line, (), rest), line)
        return self.call(name, bound)


def _keyword(function: Function, name: str) -> bool:
    return any(a.arg == name for a in function.args.kwonlyargs)


def dotted_main(test: ast.expr) -> bool:
    """True for ``__name__ == "__main__"``."""
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
