"""Gives out the room that there is for data, and notes what of this turn's data does not fit."""

from dataclasses import dataclass, field

from copilot_admin.agent.prompt.data_text import ToldData, told_of
from protocol.models import SourceResult


@dataclass(slots=True)
class DataRoom:
    """How many characters of data still fit, and what did not; the newest comes first."""

    left: int
    cuts: list[str] = field(default_factory=list)
    is_this_turn: bool = True

    def take(self, text: str) -> str:
        """The text, whose characters are taken from the room."""
        self.left = max(self.left - len(text), 0)
        return text

    def told(self, result: SourceResult, *, source: str) -> str:
        """A result as far as it fits; what of this turn's data does not is noted."""
        told = told_of(result, limit=self.left)
        if told.left_out and self.is_this_turn:
            self.cuts.append(_cut_sentence(told, source=source))
        return told.text


def _cut_sentence(told: ToldData, *, source: str) -> str:
    kept = f"{told.rows - told.left_out:,} of {told.rows:,} rows"
    if told.begun:
        is_all = told.rows == told.begun
        kept = "only the beginning" if is_all else f"{kept} and the beginning of {told.begun} more"
    return (
        f"Not all data fits: of {source!r} the model is given {kept}. Ask about less to have all "
        "of it."
    )
