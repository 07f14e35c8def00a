"""What lies in the container of old Office programs: their own files, and locked ones of the new."""

from copilot_admin.agent.documents.formats import UnreadableFile

_CONTAINER = bytes.fromhex("d0cf11e0a1b11ae1")
_LOCKED = "EncryptedPackage".encode("utf-16-le")  # the name of the stream that holds the real file


def is_old_office(data: bytes) -> bool:
    return data.startswith(_CONTAINER)


def check_unlocked(data: bytes, *, what: str) -> None:
    """Refuses a file of a new Office program that is locked with a password.

    Args:
        data: The file.
        what: How it is called in the sentence.

    Raises:
        UnreadableFile: It is locked.
    """
    if is_old_office(data) and _LOCKED in data:
        raise UnreadableFile(f"The {what} is locked with a password. Attach one without.")
