"""Where the product may be changed: every node that behaviour depends on, with what is around it.

Left out are types, decorators, messages of errors, words for the log, docstrings and names of
modules: a change there is one that no test has to notice.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
import re

Function = ast.FunctionDef | ast.AsyncFunctionDef

_CONSTANT_NAME = re.compile(r"_?[A-Z][A-Z0-9_]+")
_SHOWN_TO_PEOPLE = frozenset({"__repr__", "__str__"})
_FOR_TYPE_CHECKERS = frozenset({"TypeVar", "ParamSpec", "NewType", "cast", "assert_never"})
_IMPORTS = (ast.Import, ast.ImportFrom)
_COMPOUND = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.For, ast.AsyncFor),
    *(ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match),
)
# Python 3.11 does not know where the parts of an f-string stand.
_NEVER = (*_IMPORTS, ast.JoinedStr, ast.Global, ast.Nonlocal, ast.Pass)


@dataclass(frozen=True, slots=True)
class Spot:
    """A node, and the nodes that it is in; the nearest is the last."""

    node: ast.AST
    around: tuple[ast.AST, ...]

    @property
    def parent(self) -> ast.AST:
        """The node that this one is part of."""
        return self.around[-1]

    @property
    def statement(self) -> ast.stmt:
        """The statement that this node is, or is part of."""
        return next(one for one in (self.node, *reversed(self.around)) if isinstance(one, ast.stmt))

    @property
    def function(self) -> Function | None:
        """The function that this node is part of."""
        return next((one for one in reversed(self.around) if isinstance(one, Function)), None)

    @property
    def is_default(self) -> bool:
        """Whether this is part of a default argument."""
        return any(isinstance(one, ast.arguments) for one in self.around)

    @property
    def in_named_constant(self) -> bool:
        """Whether this is part of a constant of a module or a class."""
        return self.function is None and any(map(_names_constant, self.around))

    @property
    def lines(self) -> range:
        """The lines that run when this node does."""
        function = self.function
        if self.is_default and function is not None:
            return range(function.body[0].lineno, (function.end_lineno or 0) + 1)
        node = self.node if isinstance(self.statement, _COMPOUND) else self.statement
        assert isinstance(node, ast.expr | ast.stmt)
        return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def spots(tree: ast.Module) -> Iterator[Spot]:
    """Everything in a module that may be changed."""
    yield from _below(tree, ())


def _below(node: ast.AST, around: tuple[ast.AST, ...]) -> Iterator[Spot]:
    inside = (*around, node)
    for child in _children(node):
        if not _is_left_out(child):
            yield Spot(child, inside)
            yield from _below(child, inside)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield node.args
            yield from node.body
        case ast.ClassDef():
            yield from node.body
        case ast.AnnAssign():
            if node.value is not None:
                yield node.value
        case ast.arguments():
            yield from node.defaults
            yield from filter(None, node.kw_defaults)
        case ast.Raise():  # what is raised is another matter than what it says
            return
        case ast.ExceptHandler():
            yield from node.body
        case _:
            yield from ast.iter_child_nodes(node)


def _is_left_out(node: ast.AST) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()):  # a docstring, or the body of what has none
            return True
        case ast.Expr(value=ast.Call() as call) | (ast.Call() as call):
            return _says_nothing(call)
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.FunctionDef(name=name):
            return name in _SHOWN_TO_PEOPLE
        case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")]):
            return True
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return True
    return isinstance(node, _NEVER)


def _says_nothing(call: ast.Call) -> bool:
    """Whether this speaks to the log or to the type checker only."""
    match call.func:
        case ast.Attribute(value=ast.Name(id="logger" | "logging")):
            return True
        case ast.Name(id=name):
            return name in _FOR_TYPE_CHECKERS
    return False


def _names_constant(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return _CONSTANT_NAME.fullmatch(name) is not None
    return False
