"""Puts a change into functions that are there already, so that nothing is imported anew."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
import gc
import inspect
from types import CodeType, FunctionType

Functions = Mapping[tuple[str, CodeType], Collection[FunctionType]]
Swap = tuple[FunctionType, CodeType]


class NotSwappable(Exception):
    """A change is seen only where its module is imported anew."""


def functions_there() -> Functions:
    """Every function of this process, by its file and its code.

    Afterwards they, and all else that is there, are hidden from the garbage collector.
    """
    gc.unfreeze()
    found: defaultdict[tuple[str, CodeType], list[FunctionType]] = defaultdict(list)
    for one in gc.get_objects():
        if type(one) is FunctionType:
            found[one.__code__.co_filename, one.__code__].append(one)
    gc.freeze()
    return found


def swaps(path: str, before: bytes, after: bytes, functions: Functions) -> Sequence[Swap]:
    """Which functions of a file get which code by a change of it.

    Raises:
        NotSwappable: More changes than the bodies of functions, or such a function is not there.
    """
    old, new = (compile(text, path, "exec", dont_inherit=True) for text in (before, after))
    found: list[Swap] = []
    for one, other in _changed_bodies(old, new):
        same = functions.get((path, one), ())
        made = any((path, inner) in functions for inner in _inside(one))
        if not same or made or one.co_freevars != other.co_freevars:
            raise NotSwappable(one.co_qualname)
        found += [(function, other) for function in same]
    return found


def _changed_bodies(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The functions of a module or a class that do something else afterwards.

    Raises:
        NotSwappable: The module or the class itself does.
    """
    if _itself(old) != _itself(new):
        raise NotSwappable(old.co_qualname)
    for one, other in zip(_codes(old), _codes(new), strict=True):
        if not one.co_flags & inspect.CO_OPTIMIZED:  # a class
            yield from _changed_bodies(one, other)
        elif _whole(one) != _whole(other):
            yield one, other


def _codes(code: CodeType) -> list[CodeType]:
    return [one for one in code.co_consts if isinstance(one, CodeType)]


def _inside(code: CodeType) -> Iterator[CodeType]:
    for one in _codes(code):
        yield one
        yield from _inside(one)


def _itself(code: CodeType) -> tuple[object, ...]:
    """What a code does, but for what is defined in it; not in which line."""
    return (
        *(code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars),
        *(code.co_flags, code.co_exceptiontable),
        *("" if isinstance(one, CodeType) else repr(one) for one in code.co_consts),
    )


def _whole(code: CodeType) -> tuple[object, ...]:
    return (*_itself(code), *map(_whole, _codes(code)))
