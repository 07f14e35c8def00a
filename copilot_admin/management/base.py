"""Base of the commands: sanitised output, and files that are replaced as a whole."""

import os
from pathlib import Path
import re
import sys
from typing import Any, TextIO

from django.core.management.base import BaseCommand, OutputWrapper

# Control characters but line feed and tab, and those that change the direction of a line.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class SanitizedOutput(OutputWrapper):
    """Output in which names and texts of others can't control the terminal."""

    def write(  # type: ignore[override]  # as Django's
        self, msg: str = "", style_func: Any = None, ending: str | None = None
    ) -> None:
        """Write a text with control characters replaced."""
        super().write(_UNSAFE.sub("\ufffd", msg), style_func, ending)

    def write_document(self, text: str) -> None:
        """Write the text of a file unchanged."""
        super().write(text, ending="")


class SanitizedCommand(BaseCommand):
    """Command that writes to `SanitizedOutput`."""

    stdout: SanitizedOutput
    stderr: SanitizedOutput

    def __init__(
        self, stdout: TextIO | None = None, stderr: TextIO | None = None, **options: bool
    ) -> None:
        super().__init__(stdout, stderr, **options)
        self.stdout = SanitizedOutput(stdout or sys.stdout)
        self.stderr = SanitizedOutput(stderr or sys.stderr)
        self.stderr.style_func = self.style.ERROR

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Execute with the given streams, if there are any, as Django does."""
        for name in ("stdout", "stderr"):
            if options.get(name):
                setattr(self, name, SanitizedOutput(options.pop(name)))
        return super().execute(*args, **options)


def replace_file(path: Path, text: str) -> None:
    """Write a whole file or leave the old one, also if the disk is full.

    Raises:
        OSError: It can't be written.
    """
    if path.exists() and not path.is_file():  # a device or a pipe isn't replaced
        path.write_text(text, encoding="utf-8")
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
