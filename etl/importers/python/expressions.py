"""What a Python expression stands for, without evaluating any code: literals, names, arithmetic, calls as nodes."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod

from etl.importers.python.static import (
    BUILTINS,
    COMPARE,
    Node,
    Symbol,
    Unknown,
    Val,
    arithmetic,
    builtin,
    dotted,
    small,
)

MAX_STEPS = 50_000
MAX_ITEMS = 5_000
FLUENT = ("with_", "merge", "validate")
VAGUE = (Unknown, Symbol, Node)
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Evaluator(ABC):
    """Expressions over the names of a file; `nodes` are the calls met, `follow` is for the file's own functions."""

    def __init__(self) -> None:
        self.names: dict[str, Val] = {}
        self.nodes: list[Node] = []
        self.functions: dict[str, Function] = {}
        self.steps = 0

    @abstractmethod
    def follow(self, name: str, args: list[Val], given: dict[str, Val], line: int) -> Val:
        """What a call of one of the file's functions returns."""

    def _eval(self, node: ast.expr, scope: dict[str, Val]) -> Val:
        self.steps += 1
        if self.steps > MAX_STEPS:
            return Val(Unknown(), node.lineno)
        method = getattr(self, f"_eval_{type(node).__name__.lower()}", None)
        if method is None:
            return Val(Unknown(), node.lineno)
        result: Val = method(node, scope)
        return result

    def _eval_constant(self, node: ast.Constant, _scope: dict[str, Val]) -> Val:
        huge = isinstance(node.value, int) and not small(node.value) and not isinstance(node.value, bool)
        return Val(Unknown() if huge else node.value, node.lineno)

    def _eval_name(self, node: ast.Name, scope: dict[str, Val]) -> Val:
        return scope.get(node.id) or self.names.get(node.id) or Val(Symbol(node.id), node.lineno)

    def _eval_attribute(self, node: ast.Attribute, scope: dict[str, Val]) -> Val:
        owner, name = self._eval(node.value, scope).value, dotted(node)
        if isinstance(owner, Node):
            return owner.fields.get(node.attr) or Val(Unknown(), node.lineno)
        return Val(Symbol(name), node.lineno) if name and isinstance(owner, Symbol) else Val(Unknown(), node.lineno)

    def _owner(self, node: ast.expr, scope: dict[str, Val]) -> Node | None:
        """The node that an assignment to an attribute or item changes; made where only its name is known."""
        value = self._eval(node, scope).value
        if isinstance(value, Node) or not isinstance(value, Symbol | Unknown):
            return value if isinstance(value, Node) else None
        made = Node(dotted(node) or "object", node.lineno)
        if isinstance(node, ast.Name):
            scope[node.id] = Val(made, node.lineno)
        elif isinstance(node, ast.Attribute):
            above = self._owner(node.value, scope)
            if above is not None:
                above.fields[node.attr] = Val(made, node.lineno)
        return made

    def _eval_subscript(self, node: ast.Subscript, scope: dict[str, Val]) -> Val:
        owner, key = self._eval(node.value, scope).value, self._eval(node.slice, scope).value
        if isinstance(owner, Node) and isinstance(key, str):
            return owner.fields.get(key) or Val(Unknown(), node.lineno)
        if (
            isinstance(owner, list)
            and isinstance(key, int)
            and not isinstance(key, bool)
            and -len(owner) <= key < len(owner)
        ):
            part: Val = owner[key]
            return part
        return Val(Unknown(), node.lineno)

    def _eval_list(self, node: ast.List | ast.Tuple | ast.Set, scope: dict[str, Val]) -> Val:
        return Val([self._eval(e, scope) for e in node.elts[:MAX_ITEMS]], node.lineno)

    _eval_tuple = _eval_list

    def _eval_dict(self, node: ast.Dict, scope: dict[str, Val]) -> Val:
        made = Node("dict", node.lineno)
        for key, value in zip(node.keys, node.values, strict=True):
            item = self._eval(value, scope)
            if key is None:
                made.fields.update(item.value.fields if isinstance(item.value, Node) else {})
            elif isinstance(name := self._eval(key, scope).value, str):
                made.fields[name] = item
        return Val(made, node.lineno)

    def _eval_unaryop(self, node: ast.UnaryOp, scope: dict[str, Val]) -> Val:
        value = self._eval(node.operand, scope)
        if isinstance(node.op, ast.Not) and not isinstance(value.value, VAGUE):
            return Val(not value.value, node.lineno)
        negative = isinstance(node.op, ast.USub) and small(value.value)
        return Val(-value.value if negative else Unknown(), node.lineno, value.fallback)

    def _eval_binop(self, node: ast.BinOp, scope: dict[str, Val]) -> Val:
        left, right = self._eval(node.left, scope), self._eval(node.right, scope)
        return Val(arithmetic(node.op, left.value, right.value), node.lineno, left.fallback or right.fallback)

    def _eval_boolop(self, node: ast.BoolOp, scope: dict[str, Val]) -> Val:
        """`x or 4096` with an unknown x stands for 4096, marked as a fallback."""
        values = [self._eval(v, scope) for v in node.values]
        last = values[-1]
        if any(isinstance(v.value, VAGUE) for v in values[:-1]):
            return Val(last.value if isinstance(node.op, ast.Or) else Unknown(), last.line, True)
        for value in values[:-1]:
            if bool(value.value) == isinstance(node.op, ast.Or):
                return value
        return last

    def _eval_compare(self, node: ast.Compare, scope: dict[str, Val]) -> Val:
        left, right = self._eval(node.left, scope).value, self._eval(node.comparators[0], scope).value
        action = COMPARE.get(type(node.ops[0]))
        vague = any(isinstance(v, (*VAGUE, list)) for v in (left, right))
        if action is None or len(node.ops) > 1 or vague:
            return Val(Unknown(), node.lineno)
        try:
            return Val(bool(action(left, right)), node.lineno)
        except TypeError:
            return Val(Unknown(), node.lineno)

    def _eval_ifexp(self, node: ast.IfExp, scope: dict[str, Val]) -> Val:
        test = self._eval(node.test, scope).value
        if isinstance(test, VAGUE):
            return Val(Unknown(), node.lineno)
        return self._eval(node.body if test else node.orelse, scope)

    def _eval_call(self, node: ast.Call, scope: dict[str, Val]) -> Val:
        name = dotted(node.func) or ""
        args = [self._eval(a, scope) for a in node.args[:MAX_ITEMS]]
        given = self._keywords(node, scope)
        if name in BUILTINS and args and all(small(a.value) for a in args):
            return Val(builtin(name, args), node.lineno, any(a.fallback for a in args))
        if name in self.functions:
            return self.follow(name, args, given, node.lineno)
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
