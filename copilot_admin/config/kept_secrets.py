"""Secrets that a development server makes once for itself and keeps in files."""

from collections.abc import Callable
import os
from pathlib import Path
import tempfile

from copilot_admin.config.env import BadSetting


def kept_secret(path: Path, make: Callable[[], str]) -> str:
    """The secret in a file; made first if there is none. Only the owner may read the file.

    Two processes that start at once end up with the same secret.

    Raises:
        BadSetting: The file can be neither made nor read, or holds none.
    """
    try:
        if not path.exists():
            _write_once(path, make())
        secret = path.read_text(encoding="ascii").strip()
    except OSError as error:
        raise BadSetting(
            f"{error.filename or path} cannot be used: {error.strerror}. Let this account read and write its folder, or "
            "set SECRET_KEY and COPILOT_ENCRYPTION_KEYS."
        ) from None
    except UnicodeDecodeError:
        secret = ""
    if not secret:
        raise BadSetting(f"{path} holds no secret. Put back what it held.")
    return secret


def _write_once(path: Path, secret: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="ascii") as draft:  # mode 0600
        draft.write(secret + "\n")
        draft.flush()
        os.fsync(draft.fileno())
        try:
            os.link(draft.name, path)  # fails when another process was first, unlike a rename
        except FileExistsError:
            return
