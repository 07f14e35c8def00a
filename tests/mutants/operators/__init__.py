"""The kinds of changes: each looks at one spot and says what else could be written there."""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping

from tests.mutants.operators import expressions, statements, values
from tests.mutants.source import Edit, Source
from tests.mutants.spots import Spot

Operator = Callable[[Spot, Source], Iterator[Edit]]


def operators(product: Iterable[ast.Module]) -> Mapping[str, Operator]:
    """All of them by their names; the product says which enumerations there are."""
    return {
        "comparison": expressions.comparison,
        "arithmetic": expressions.arithmetic,
        "either or both": expressions.either_or_both,
        "without not": expressions.without_not,
        "other function": expressions.other_function,
        "without shield": expressions.without_shield,
        "number": values.number,
        "flag": values.flag,
        "word": values.word,
        "sibling": values.Sibling(values.enumerations(product)),
        "left out": statements.left_out,
        "turned round": statements.turned_round,
        "nothing returned": statements.nothing_returned,
        "opposite returned": statements.opposite_returned,
    }
