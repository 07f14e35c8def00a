"""Big JSON cut into parts that are found again by their hash, and put together again.

A value is cut where it is big, a list into runs of elements whose borders depend on the elements
alone. So what a request repeats is found again although the rest of it changed, and a list that
grows by one element costs one run.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
import json
from typing import TypeAlias

import orjson

from copilot_admin.storage.cut_values import CutList, parsed
from protocol.json import Json
from protocol.pieces import PIECE, pieces_of
from protocol.walk import rebuild

BIG = 2048  # bytes of JSON; below it a row of its own costs more than it saves
DEEPEST_CUT = 6  # levels; deeper values are kept whole
RUN_ENDS = 32  # of 256: every eighth element ends a run
SHORTEST_RUN = 2  # so that runs of runs come to an end
LONGEST_RUN = 64
# Numbers and words: a run of a dozen would cost ten times its bytes, and a list of a million of them
# a hundred thousand rows. Runs of such have some 4 KB.
SMALL = 64  # bytes of an element
USUAL_SMALL_RUN = 4096
LONGEST_SMALL_RUN = 4 * USUAL_SMALL_RUN
MOST_RUNS = 16

Sha: TypeAlias = str
# Ours alone: a key of the value itself that begins with a dollar gets one more.
_REF = "$blob"
_LIST = "$list"
_DOLLAR_KEY = b'"$'


@dataclass(slots=True)
class Packed:
    """A value cut into parts, whole in `parts[sha]`; every part lists the parts it refers to."""

    sha: Sha = ""
    parts: dict[Sha, tuple[bytes, tuple[Sha, ...]]] = field(default_factory=dict)


def pack(value: Json) -> Packed:
    """Cuts a value; its root is a part even if it is small."""
    packed = Packed()
    if _may_have_dollar_key(value):
        value = rebuild(value, key=lambda key: f"${key}" if key.startswith("$") else key)
    packed.sha = _keep(packed, _cut(packed, value, depth=0))
    return packed


def _may_have_dollar_key(value: Json) -> bool:
    """Whether a key begins with a dollar; it says so of some values without one, never the reverse.

    To write down is the quickest look at many small elements. A text is none of them: one of 8 MB
    keeps the lock of the interpreter for 60 ms.
    """
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            if any(key.startswith("$") for key in one):
                return True
            waiting.extend(one.values())
        elif isinstance(one, Sequence) and not isinstance(one, str):
            if len(one) <= LONGEST_RUN:
                waiting.extend(one)
            elif any(_DOLLAR_KEY in dumped(run) for run in _of_equal_length(one)):
                return True
    return False


def _of_equal_length(elements: Sequence[Json]) -> Iterator[Sequence[Json]]:
    for start in range(0, len(elements), LONGEST_RUN):
        yield elements[start : start + LONGEST_RUN]


def dumped(value: Json) -> bytes:
    """The value as JSON; its keys keep their order, which is that of a table's columns."""
    try:
        if isinstance(value, str) and len(value) > PIECE:
            parts = (orjson.dumps(piece)[1:-1] for piece in pieces_of(value))
            return b"".join([b'"', *parts, b'"'])
        return orjson.dumps(value, default=dict)
    except orjson.JSONEncodeError:  # nested over 254 deep, beyond 64 bits, no Unicode
        return json.dumps(value, separators=(",", ":")).encode()


def _cut(packed: Packed, value: Json, *, depth: int) -> Json:
    if isinstance(value, bool | int | float | None) or depth > DEEPEST_CUT:
        return value
    if not is_big(value):
        return value
    cut: Json
    if isinstance(value, str):
        cut = value
    elif isinstance(value, Mapping):
        cut = {key: _cut(packed, one, depth=depth + 1) for key, one in value.items()}
    else:
        cut = _cut_list(packed, [_cut(packed, one, depth=depth + 1) for one in value])
    return _ref(packed, cut) if depth and is_big(cut, BIG // 8) else cut


def is_big(value: Json, bound: int = BIG) -> bool:
    """Whether a value takes more bytes as JSON; what surely does is not written down to know it.

    To write down 18 MB keeps the lock of the interpreter for 50 ms, and a value is asked at each level.
    """
    return _least(value, enough=bound) > bound or len(dumped(value)) > bound


def _least(value: Json, *, enough: int) -> int:
    """Bytes that a value takes at least as JSON; it is looked at until they are enough."""
    size, waiting = 0, [value]
    while waiting and size <= enough:
        one = waiting.pop()
        if isinstance(one, str):
            size += len(one)
        elif isinstance(one, Mapping | Sequence):
            size += 2 * len(one)  # each element, and what follows it
            if size <= enough:
                keys = one if isinstance(one, Mapping) else ()
                size += sum(map(len, keys))
                waiting.extend(one.values() if isinstance(one, Mapping) else one)
    return size


def _cut_list(packed: Packed, elements: Sequence[Json]) -> Json:
    """A list as runs of elements, and those as runs again while they are many."""
    if not is_big(elements):
        return elements
    runs: list[Json] = [_ref(packed, run) for run in _runs(elements)]
    while len(runs) > MOST_RUNS:
        runs = [_ref(packed, {_LIST: run}) for run in _runs(runs)]
    return {_LIST: runs}


def _runs(elements: Sequence[Json]) -> Iterator[list[Json]]:
    run: list[Json] = []
    size = 0
    for element in elements:
        data = dumped(element)
        run.append(element)
        size += len(data)
        if (len(run) >= SHORTEST_RUN and _is_border(data)) or _is_long(run, size):
            yield run
            run, size = [], 0
    if run:
        yield run


def _is_border(data: bytes) -> bool:
    """Whether a run may end with an element; the smaller it is, the less often."""
    first, second, *_ = sha256(data).digest()
    if len(data) >= SMALL:
        return first < RUN_ENDS
    return 256 * first + second < 65_536 * len(data) // USUAL_SMALL_RUN


def _is_long(run: Sequence[Json], size: int) -> bool:
    return size >= LONGEST_SMALL_RUN or (len(run) >= LONGEST_RUN and size >= LONGEST_RUN * SMALL)


def _ref(packed: Packed, value: Json) -> Json:
    return {_REF: _keep(packed, value)}


def _keep(packed: Packed, value: Json) -> Sha:
    data = dumped(value)
    sha = sha256(data).hexdigest()
    packed.parts[sha] = (data, tuple(refs_in(data)))
    return sha


def refs_in(data: bytes) -> Iterator[Sha]:
    """The parts to which a part refers, in their order."""
    if _DOLLAR_KEY not in data:
        return
    waiting: list[Json] = [parsed(data)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            if isinstance(ref := value.get(_REF), str):
                yield ref
            else:
                waiting.extend(reversed(list(value.values())))
        elif isinstance(value, list):
            waiting.extend(reversed(value))


def whole_value(sha: Sha, read: Mapping[Sha, bytes], whole: dict[Sha, Json]) -> Json:
    """A value with all its parts.

    Args:
        sha: Of the value.
        read: The parts that were read.
        whole: What has been put together already; it grows.
    """
    if sha not in whole:
        data = read.get(sha, b"null")
        value = parsed(data)
        whole[sha] = _joined(value, read, whole) if _DOLLAR_KEY in data else value
    return whole[sha]


def _joined(value: Json, read: Mapping[Sha, bytes], whole: dict[Sha, Json]) -> Json:
    if isinstance(value, list):
        return [_joined(one, read, whole) for one in value]
    if not isinstance(value, Mapping):
        return value
    if isinstance(ref := value.get(_REF), str):
        return whole_value(ref, read, whole)
    if isinstance(runs := value.get(_LIST), list):
        return _elements_of(runs, read, whole)
    return {key.removeprefix("$"): _joined(one, read, whole) for key, one in value.items()}


def _elements_of(
    runs: Sequence[Json], read: Mapping[Sha, bytes], whole: dict[Sha, Json]
) -> list[Json]:
    """The elements of all runs, or of those before the first that was not read."""
    elements: list[Json] = []
    for run in runs:
        ref = run.get(_REF) if isinstance(run, Mapping) else None
        if isinstance(ref, str) and ref not in read:
            return CutList(elements)
        some = _joined(run, read, whole)
        elements += some if isinstance(some, list) else ()
        if isinstance(some, CutList):
            return CutList(elements)
    return elements
