"""Files that somebody attached to a question: Workspace offers them as widgets of its own."""

from protocol.widgets import Widget

FEATURE = "file-upload"
_ORIGIN = "OpenBB Hub"
_START = "file-"


def is_upload(*, origin: str, id: str) -> bool:
    """Whether what is called so is an attached file."""
    return origin == _ORIGIN and id.startswith(_START)


def is_uploaded(widget: Widget) -> bool:
    """Whether a widget is an attached file."""
    return is_upload(origin=widget.origin, id=widget.widget_id)
