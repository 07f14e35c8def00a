"""Data messages: notes that stay with a model while a conversation lasts.

Source: Acts of Emergence 005, Agent/Data. Doors: what is named here, `layout`, `message`.
"""

from protocol.data.folding import Position, fold, folded
from protocol.data.layout import fitting, layout
from protocol.data.merging import merge, merge_schemas, merged
from protocol.data.message import (
    KIND,
    MISSING,
    DataMessage,
    Missing,
    kind_from,
    read_data_message,
)
from protocol.data.rendering import render, taken_apart

__all__ = [
    "KIND",
    "MISSING",
    "DataMessage",
    "Missing",
    "Position",
    "fitting",
    "fold",
    "folded",
    "kind_from",
    "layout",
    "merge",
    "merge_schemas",
    "merged",
    "read_data_message",
    "render",
    "taken_apart",
]
