"""Who is told of each request of the API that is refused."""

from collections.abc import Callable
from typing import TypeAlias

from copilot_admin.errors import RequestError

Listener: TypeAlias = Callable[[RequestError], None]
LISTENERS: list[Listener] = []


def note_refusal(error: RequestError) -> None:
    """Tells everybody who listens of a refused request."""
    for listener in LISTENERS:
        listener(error)
