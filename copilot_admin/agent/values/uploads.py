"""Files that somebody attached to a question: Workspace offers them as widgets of its own."""

from protocol.widgets import Widget, is_upload

FEATURE = "file-upload"


def is_uploaded(widget: Widget) -> bool:
    return is_upload(origin=widget.origin, id=widget.widget_id)
