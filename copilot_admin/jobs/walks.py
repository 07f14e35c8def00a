"""How far removals of this process have come along the conversations that they mean.

What is held or still being answered stays where it is, at the front of all that is to go: a batch that
began there would walk over it each time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q


@dataclass(slots=True)
class _Walk:
    """One walk, from the conversation that was silent the longest.

    Attributes:
        place: Of the last conversation that was taken: when it was last active, and its id.
        is_over: Nothing more was found.
    """

    place: tuple[datetime, int] | None = None
    is_over: bool = False


class Walks:
    """Each removal's walk; a process that knows of none begins anew."""

    def __init__(self) -> None:
        self._walks: dict[int, _Walk] = {}

    def ahead(self, removal_id: int) -> Q | None:
        """Which conversations a walk has not gone past; None: it is over."""
        walk = self._walks.setdefault(removal_id, _Walk())
        if walk.is_over:
            return None
        if walk.place is None:
            return Q()
        at, pk = walk.place
        return Q(last_at__gte=at) & (Q(last_at__gt=at) | Q(pk__gt=pk))

    def go_past(self, removal_id: int, places: Sequence[tuple[datetime, int]]) -> None:
        """Notes what was found ahead, in its order; of nothing, that the walk is over."""
        walk = self._walks.setdefault(removal_id, _Walk())
        if places:
            walk.place = places[-1]
        else:
            walk.is_over = True

    def begin_anew(self, removal_id: int) -> bool:
        """Lets a walk begin again that has found something: what it went past may be free by now.

        Returns:
            False: the walk found nothing from its start on, and another one would not.
        """
        walk = self._walks.pop(removal_id, None)
        return walk is not None and walk.place is not None

    def forget(self) -> None:
        """Knows of no walk any more, as a process that begins."""
        self._walks.clear()


WALKS = Walks()
