"""Shared by readers of Office files: archives, and the XML in them."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any
import zipfile

from lxml import etree

from copilot_admin.agent.documents.document import UnreadableFile

MAX_UNPACKED_BYTES = 200 * 1024 * 1024
MAX_MEMBERS = 10_000
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
# Parts of packages that aren't read.
_UNREAD_PARTS: Mapping[str, tuple[str, ...]] = {
    "pictures": ("word/media/",),
    "charts": ("word/charts/",),
    "diagrams": ("word/diagrams/", "ppt/diagrams/"),
    "comments": ("ppt/comments/",),
    "charts, pictures and text boxes": ("xl/drawings/drawing",),
    "comments on cells": ("xl/comments",),
}
_PARSER = {"resolve_entities": False, "no_network": True, "huge_tree": False}


def open_archive(data: bytes) -> zipfile.ZipFile:
    """Open a zip archive whose declared sizes are within the limits.

    Raises:
        UnreadableFile: It has too many members, or unpacks to too much.
    """
    archive = zipfile.ZipFile(BytesIO(data))
    entries = archive.infolist()
    if len(entries) > MAX_MEMBERS:
        raise UnreadableFile(f"The file has more than {MAX_MEMBERS:,} parts. Save it again.")
    if sum(entry.file_size for entry in entries) > MAX_UNPACKED_BYTES:
        raise UnreadableFile("The file unpacks to more than 200 MB. Attach a smaller one.")
    return archive


def read_xml(archive: zipfile.ZipFile, name: str) -> Any:
    """Return the root element of a member of an archive; an empty one if there is no such member."""
    if name not in archive.namelist():
        return etree.Element("missing")
    return etree.fromstring(archive.read(name), etree.XMLParser(**_PARSER))


def describe_unread_parts(archive: zipfile.ZipFile) -> list[str]:
    """Return a note for each kind of content in an archive that isn't read."""
    return [
        f"{kind} were not read"
        for kind, parts in _UNREAD_PARTS.items()
        if any(name.startswith(parts) for name in archive.namelist())
    ]


def value_in(element: Any, path: str) -> str:
    """Return the value of the Word element at a path such as "pPr/pStyle"; "" without one."""
    found = element.find("/".join(f"{W}{name}" for name in path.split("/")))
    return found.get(f"{W}val", "") if found is not None else ""
