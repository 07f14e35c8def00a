"""Has each process forget whom it remembers, soon after anybody was erased.

No answer waits for it: a question of somebody whose row is gone finds that out when it is stored, and
writes a new one. This takes names and addresses out of the memory, and the reasons that people typed.
"""

from copilot_admin.copilots.checked_tokens import CHECKED
from copilot_admin.models import Cause, Removal, RemovalState
from copilot_admin.transcripts.store.users import forget_users


class Forgetting:
    """How many erasures this process knows of; reads the database."""

    def __init__(self) -> None:
        self._known = 0

    def look_after(self) -> None:
        """Forgets everybody, if rows were erased since it last looked."""
        gone = Removal.objects.filter(cause=Cause.ERASURE).exclude(state=RemovalState.ROWS).count()
        if gone == self._known:
            return
        self._known = gone
        forget_users()
        CHECKED.forget()


FORGETTING = Forgetting()
