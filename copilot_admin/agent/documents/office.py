"""Shared by readers of Office files: archives, old containers and password checks."""

from io import BytesIO
from typing import Any
import zipfile

from lxml import etree

from copilot_admin.agent.documents.document import UnreadableFile

MAX_UNPACKED_BYTES = 200 * 1024 * 1024
MAX_MEMBERS = 10_000
OLD_CONTAINER = bytes.fromhex("d0cf11e0a1b11ae1")
_LOCKED = "EncryptedPackage".encode("utf-16-le")  # the stream that contains the encrypted file
_PARSER = {"resolve_entities": False, "no_network": True, "huge_tree": False}


def open_archive(data: bytes) -> zipfile.ZipFile:
    """Open a zip archive whose declared sizes are within the limits.

    Raises:
        UnreadableFile: It has too many members, or unpacks to too much.
        ValueError: It is no archive.
    """
    try:
        archive = zipfile.ZipFile(BytesIO(data))
    except zipfile.BadZipFile as error:
        raise ValueError("no archive") from error
    entries = archive.infolist()
    if len(entries) > MAX_MEMBERS:
        raise UnreadableFile(f"The file has more than {MAX_MEMBERS:,} parts. Save it again.")
    if sum(entry.file_size for entry in entries) > MAX_UNPACKED_BYTES:
        raise UnreadableFile("The file unpacks to more than 200 MB. Attach a smaller one.")
    return archive


def check_unlocked(data: bytes) -> None:
    """Reject an Office file with a password.

    Raises:
        UnreadableFile: It is locked.
    """
    if data.startswith(OLD_CONTAINER) and _LOCKED in data:
        raise UnreadableFile("The file is locked with a password. Attach one without.")


def read_xml(archive: zipfile.ZipFile, name: str) -> Any:
    """Return the root element of a member of an archive, or None if there is no such member.

    Raises:
        ValueError: It is damaged.
    """
    try:
        return etree.fromstring(archive.read(name), etree.XMLParser(**_PARSER))
    except KeyError:
        return None
    except (etree.XMLSyntaxError, zipfile.BadZipFile, OSError, RuntimeError) as error:
        raise ValueError("a damaged part") from error
