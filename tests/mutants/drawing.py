"""Which changes are tried: all that the operators know, and a repeatable choice among them."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
import random

from tests.mutants.mutation import Mutation
from tests.mutants.operators import Operator
from tests.mutants.source import Edit, Source
from tests.mutants.spots import Spot, spots


def mutations(root: Path, file: Path, operators: Mapping[str, Operator]) -> Iterator[Mutation]:
    """Every change of a file that Python still understands."""
    source = Source(file.read_bytes())
    for spot in spots(source.tree):
        for name, operator in operators.items():
            for edit in operator(spot, source):
                if _is_python(edit.applied(source.text)):
                    yield _mutation(file.relative_to(root).as_posix(), spot, name, edit, source)


def drawn(candidates: Sequence[Mutation], *, number: int, seed: int) -> list[Mutation]:
    """A choice of changes, at most one of a line, so that dense lines count no more than others."""
    chance = random.Random(seed)
    of_line: defaultdict[tuple[str, int], list[Mutation]] = defaultdict(list)
    for one in candidates:
        of_line[one.file, one.line].append(one)
    lines = sorted(of_line)
    return [chance.choice(of_line[line]) for line in chance.sample(lines, min(number, len(lines)))]


def _mutation(file: str, spot: Spot, operator: str, edit: Edit, source: Source) -> Mutation:
    line = source.text.count(b"\n", 0, edit.start) + 1
    return Mutation(file=file, line=line, lines=spot.lines, operator=operator, edit=edit)


def _is_python(text: bytes) -> bool:
    try:
        compile(text, "<mutant>", "exec", flags=ast.PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError:
        return False
    return True
