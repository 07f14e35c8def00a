"""Whether the database refused a row, or refuses all of them: its tables may be others than ours."""

import logging

from django import db

from copilot_admin.storage.errors import is_refusal
from copilot_admin.transcripts.store.probing import try_statements

REFUSED = "the database refuses what is written: the log of this server says why"
logger = logging.getLogger(__name__)


class Doubt:
    """What is known of it.

    A row that is wrong, of which a client may send many, says nothing of the others. So what is
    refused is only a reason to try with a row that is right.

    Attributes:
        is_there: Something was refused, and nobody has tried since whether all is.
        is_confirmed: It is.
    """

    def __init__(self) -> None:
        self.is_there = False
        self.is_confirmed = False

    def note(self, error: BaseException) -> None:
        """Has it tried, if an error says that something was refused."""
        self.is_there = self.is_there or is_refusal(error)

    def settle(self) -> None:
        """Tries, and knows; in a transaction.

        Raises:
            Error: The database is away: nobody knows more than before.
        """
        refusal = _refusal()
        if refusal and not self.is_confirmed:
            logger.error("what is written is refused: %s", refusal)
        self.is_there = self.is_confirmed = bool(refusal)


def _refusal() -> str:
    try:
        try_statements()
    except db.Error as error:
        if not is_refusal(error):
            raise
        return str(error).partition("\n")[0]  # what follows quotes the row
    return ""
