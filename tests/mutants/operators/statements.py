"""Changes of what is done: a step left out, a condition turned round, nothing given back."""

import ast
from collections.abc import Iterator

from tests.mutants.source import Edit, Source
from tests.mutants.spots import Spot

_MAKERS = frozenset({"__init__", "__post_init__"})
# Their opposites are changes of their own.
_TURNED_ROUND_ELSEWHERE = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)


def left_out(spot: Spot, source: Source) -> Iterator[Edit]:
    """A call, a `raise`, an early `return` or an assignment to something kept becomes `pass`."""
    if isinstance(spot.node, ast.stmt) and _may_be_left_out(spot.node, spot):
        yield source.replaced(spot.node, "pass")


def turned_round(spot: Spot, source: Source) -> Iterator[Edit]:
    """`if a` becomes `if not (a)`."""
    match spot.node:
        case ast.expr() as node if _is_condition(spot) and not _has_opposite(node):
            yield source.replaced(node, f"not ({source.words(node)})")


def nothing_returned(spot: Spot, source: Source) -> Iterator[Edit]:
    """`return a` becomes `return None` where the function may return it."""
    match spot.node:
        case ast.Return(value=ast.expr() as value) if not _is_constant(value):
            if spot.function is not None and _may_be_none(spot.function.returns):
                yield source.replaced(value, "None")


def opposite_returned(spot: Spot, source: Source) -> Iterator[Edit]:
    """`return a` becomes `return not (a)` where a function says yes or no."""
    match spot.node:
        case ast.Return(value=ast.expr() as value) if not _has_opposite(value):
            if spot.function is not None and _is_yes_or_no(spot.function.returns):
                yield source.replaced(value, f"not ({source.words(value)})")


def _may_be_left_out(statement: ast.stmt, spot: Spot) -> bool:
    match statement:
        case ast.Expr(value=ast.Call() | ast.Await()):
            return True
        case ast.Raise() | ast.AugAssign() | ast.Delete() | ast.Break() | ast.Continue():
            return True
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return spot.function is None or spot.function.name not in _MAKERS
        case ast.Return(value=None):
            return spot.function is not None and statement is not spot.function.body[-1]
    return False


def _is_condition(spot: Spot) -> bool:
    match spot.parent:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            return test is spot.node
        case ast.comprehension(ifs=ifs):
            return spot.node in ifs
        case ast.match_case(guard=guard):
            return guard is spot.node
    return False


def _has_opposite(condition: ast.expr) -> bool:
    match condition:
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Compare(ops=[operator]):
            return isinstance(operator, _TURNED_ROUND_ELSEWHERE)
    return _is_constant(condition)


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)


def _is_yes_or_no(returns: ast.expr | None) -> bool:
    return isinstance(returns, ast.Name) and returns.id == "bool"


def _may_be_none(returns: ast.expr | None) -> bool:
    match returns:
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return _may_be_none(left) or _may_be_none(right)
        case ast.Constant(value=str() as text):
            return text.endswith("| None")
        case ast.Constant(value=None):
            return True
    return False
