"""Hands entries to where `COPILOT_AUDIT_LOG` says: what is away loses nothing, it is caught up."""

import logging
import socket

from django.conf import settings

from copilot_admin.audit import cursors
from copilot_admin.audit.destinations import send
from copilot_admin.audit.following import batch_after, is_any_after
from copilot_admin.models.audit import AuditCursorName

AT_ONCE = 200  # entries of a batch
MOST_BATCHES = 10  # of a round; then other duties have their turn

logger = logging.getLogger(__name__)


class Forwarding:
    """Goes on with it, and says once when a destination is away, and once when it is back."""

    def __init__(self) -> None:
        self._is_away = False

    def go_on(self) -> int:
        """Hands over what is new; returns how many entries that were."""
        to = settings.AUDIT_LOG
        if to is None or not is_any_after(cursors.place(AuditCursorName.FORWARDING)):
            return 0
        done = cursors.take(AuditCursorName.FORWARDING)
        if done is None:
            return 0
        began = done
        try:
            for _ in range(MOST_BATCHES):
                entries = batch_after(done, AT_ONCE)
                if not entries:
                    break
                send(entries, to, host=socket.gethostname())
                done = entries[-1].sequence
        except OSError as error:
            self._tell_away(error)
        else:
            self._tell_back()
        finally:
            cursors.give_back(AuditCursorName.FORWARDING, done)
        return done - began

    def _tell_away(self, error: OSError) -> None:
        if not self._is_away:
            why = error.strerror or type(error).__name__
            logger.warning(
                "The audit trail cannot be forwarded: %s. It is caught up when COPILOT_AUDIT_LOG "
                "answers again.",
                why,
            )
        self._is_away = True

    def _tell_back(self) -> None:
        if self._is_away:
            logger.info("The audit trail is forwarded again.")
        self._is_away = False


FORWARDING = Forwarding()
