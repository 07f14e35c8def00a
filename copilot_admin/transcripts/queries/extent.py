"""How much of each turn is read; what is beyond it is counted or says that it was cut."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """The bounds of what is read; None: all of it.

    Attributes:
        events: Of one run, the first; those that end an answer are read besides.
        runs: Of one turn, the newest.
    """

    events: int | None = None
    runs: int | None = None


WHOLE = Extent()
