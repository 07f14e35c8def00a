"""A text that a command writes into a file: all of it, or the file stays as it was."""

import os
from pathlib import Path
import shutil


def write_whole(path: Path, text: str) -> None:
    """Writes a text beside a file and puts it in its place; a full disk leaves no half of it.

    Raises:
        OSError: It cannot be written; what was there before is still there.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():  # a pipe or a device, which nothing replaces
        target.write_text(text, encoding="utf-8")
        return
    draft = target.with_name(f".export-{os.getpid()}")
    try:
        with draft.open("x", encoding="utf-8") as file:
            file.write(text)
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
