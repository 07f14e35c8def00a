"""Merges what several Data messages say of one thing; later ones win, and none is changed."""

from collections.abc import Iterable, Mapping, Sequence

from protocol.data.message import MISSING, DataMessage, Missing
from protocol.json import Json


def merge(earlier: Json, later: Json) -> Json:
    """The earlier value with the later one laid over it.

    Objects merge key by key, at any depth, and keys stay where they first stood. Everything else
    is replaced: lists too, and null is a value like any other.

    Examples:
        >>> merge({"city": {"name": "Rome", "zip": "00100"}}, {"city": {"name": "Austin"}})
        {'city': {'name': 'Austin', 'zip': '00100'}}
    """
    return _Pile(earlier).add(later).value


def merge_schemas(earlier: Json, later: Json) -> Json:
    """Like `merge`, but what the earlier schema requires stays required.

    Examples:
        >>> merge_schemas({"required": ["a"]}, {"required": ["b", "a"]})
        {'required': ['a', 'b']}
    """
    return _SchemaPile(earlier).add(later).value


def merged(messages: Sequence[DataMessage]) -> tuple[DataMessage, ...]:
    """One message for every identity, in the order in which the identities first appear.

    Takes time in proportion to what is merged, however many pieces it comes in.

    Examples:
        >>> [one.data for one in merged([DataMessage(data={"a": 1}), DataMessage(data={"b": 2})])]
        [{'a': 1, 'b': 2}]
    """
    groups: dict[tuple[str, str | None], list[DataMessage]] = {}
    for message in messages:
        groups.setdefault(message.identity, []).append(message)
    return tuple(map(_as_one, groups.values()))


def _as_one(messages: Sequence[DataMessage]) -> DataMessage:
    first = messages[0]
    if len(messages) == 1:
        return first
    described = (one.description for one in reversed(messages) if one.description.strip())
    return DataMessage(
        data=_sum((one.data for one in messages), _Pile),
        schema=_sum((one.schema for one in messages), _SchemaPile),
        kind=first.kind,
        description=next(described, ""),
        instance=first.instance,
        role=first.role,
    )


class _Pile:
    """A value on which others are laid; it copies an object once, when it first changes it."""

    def __init__(self, value: Json) -> None:
        self.value = value
        self._own: dict[int, dict[str, Json]] = {}  # by identity; kept alive, so ids stay unique

    def add(self, value: Json) -> "_Pile":
        """Lays a value on the pile."""
        self.value = self._laid(self.value, value)
        return self

    def _laid(self, below: Json, above: Json) -> Json:
        if not isinstance(below, Mapping) or not isinstance(above, Mapping):
            return above
        target = self._owned(below)
        for key, value in above.items():
            target[key] = self._member(key, target[key], value) if key in target else value
        return target

    def _member(self, key: str, below: Json, above: Json) -> Json:
        return self._laid(below, above)

    def _owned(self, members: Mapping[str, Json]) -> dict[str, Json]:
        known = self._own.get(id(members))
        if known is None:
            known = dict(members)
            self._own[id(known)] = known
        return known


class _SchemaPile(_Pile):
    """A schema on which others are laid."""

    def _member(self, key: str, below: Json, above: Json) -> Json:
        if key == "required" and isinstance(below, list) and isinstance(above, list):
            return _union(below, above)
        return super()._member(key, below, above)


def _union(below: Sequence[Json], above: Sequence[Json]) -> list[Json]:
    together: list[Json] = []
    for name in (*below, *above):
        if name not in together:
            together.append(name)
    return together


def _sum(values: "Iterable[Json | Missing]", pile: type[_Pile]) -> "Json | Missing":
    given = [value for value in values if not isinstance(value, Missing)]
    if not given:
        return MISSING
    total = pile(given[0])
    for value in given[1:]:
        total.add(value)
    return total.value
