"""Secrets that a development server makes once for itself and keeps in files."""

from collections.abc import Callable
import os
from pathlib import Path
import tempfile


def kept_secret(path: Path, make: Callable[[], str]) -> str:
    """The secret in a file; made first if there is none. Only the owner may read the file.

    Two processes that start at once end up with the same secret.
    """
    if not path.exists():
        _write_once(path, make())
    return path.read_text(encoding="ascii").strip()


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
