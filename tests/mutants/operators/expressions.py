"""Changes of what is computed: comparisons, arithmetic, truth, and which of two is taken."""

import ast
from collections.abc import Iterator
from itertools import pairwise

from tests.mutants.source import Edit, Source
from tests.mutants.spots import Spot

_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitOr: ("|", "&"),
    ast.BitAnd: ("&", "|"),
}
_OTHER_FUNCTION = {"min": "max", "max": "min", "any": "all", "all": "any"}
# What is joined or repeated, not computed: there is no other operator that it knows.
_JOINED = (ast.JoinedStr, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp)


def comparison(spot: Spot, source: Source) -> Iterator[Edit]:
    """`a < b` becomes `a <= b`, `a == b` becomes `a != b`."""
    if isinstance(spot.node, ast.Compare):
        operands = (spot.node.left, *spot.node.comparators)
        for (left, right), operator in zip(pairwise(operands), spot.node.ops, strict=True):
            yield source.operator_replaced(left, right, *_COMPARISONS[type(operator)])


def arithmetic(spot: Spot, source: Source) -> Iterator[Edit]:
    """`a + b` becomes `a - b`, `a += b` becomes `a -= b`."""
    match spot.node:
        case ast.BinOp(left=left, op=op, right=right) if not _is_joined(left, right):
            if type(op) in _ARITHMETIC and not _is_type(right):
                yield source.operator_replaced(left, right, *_ARITHMETIC[type(op)])
        case ast.AugAssign(target=target, op=op, value=value) if not _is_joined(value):
            if type(op) in _ARITHMETIC:
                old, new = _ARITHMETIC[type(op)]
                yield source.operator_replaced(target, value, f"{old}=", f"{new}=")


def either_or_both(spot: Spot, source: Source) -> Iterator[Edit]:
    """`a and b` becomes `a or b`."""
    if isinstance(spot.node, ast.BoolOp):
        old, new = ("and", "or") if isinstance(spot.node.op, ast.And) else ("or", "and")
        values = spot.node.values
        for left, right in pairwise(values):
            yield source.operator_replaced(left, right, old, new)


def without_not(spot: Spot, source: Source) -> Iterator[Edit]:
    """`not a` becomes `a`."""
    if isinstance(spot.node, ast.UnaryOp) and isinstance(spot.node.op, ast.Not):
        start = source.start(spot.node)
        yield Edit(start, start + len("not "), "")


def other_function(spot: Spot, source: Source) -> Iterator[Edit]:
    """`min(a)` becomes `max(a)`, `any(a)` becomes `all(a)`."""
    match spot.node:
        case ast.Call(func=ast.Name(id=name) as function) if name in _OTHER_FUNCTION:
            yield source.replaced(function, _OTHER_FUNCTION[name])


def without_shield(spot: Spot, source: Source) -> Iterator[Edit]:
    """`await asyncio.shield(a)` becomes `await a`."""
    match spot.node:
        case ast.Call(func=ast.Attribute(attr="shield") | ast.Name(id="shield"), args=[shielded]):
            yield source.replaced(spot.node, source.words(shielded))


def _is_joined(*operands: ast.expr) -> bool:
    return any(
        isinstance(one, _JOINED) or (isinstance(one, ast.Constant) and isinstance(one.value, str))
        for one in operands
    )


def _is_type(operand: ast.expr) -> bool:
    """Whether this is the second of two types, in `isinstance(a, B | C)`."""
    match operand:
        case ast.Constant(value=None):
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name[:1].isupper() and not name.isupper()
    return False
