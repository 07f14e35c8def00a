"""The room that request bodies of a process share; who finds none waits, and sends no further.

A body is counted from its first byte until its answer begins. For the one of which most has come the
others leave room: several that are half there would otherwise wait for each other.
"""

from collections.abc import Sequence

from copilot_admin.http.shared_room import Share, SharedRoom


class BodyRoom(SharedRoom):
    """Counts the bytes of bodies, which grow as they come."""

    def left_for_others(self, share: Share, large: Sequence[Share]) -> int:
        """What is still to come of the body in front, unless this is the one."""
        first = max(large, key=lambda one: one.size, default=share)
        return 0 if share is first else self.largest - first.size
