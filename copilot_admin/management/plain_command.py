"""Commands whose output steers no terminal: it quotes files, models and people whom nobody vouches for."""

import re
import sys
from typing import Any, TextIO

from django.core.management.base import BaseCommand, OutputWrapper

# Control characters but line feed and tabulator, and what turns the direction of a line.
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_IN_ITS_PLACE = "\ufffd"


class PlainOutput(OutputWrapper):
    """Writes what a terminal would obey as a sign that says that something stood there."""

    def write(  # type: ignore[override]  # as Django's
        self, msg: str = "", style_func: Any = None, ending: str | None = None
    ) -> None:
        """Writes a text for people."""
        super().write(_STEERING.sub(_IN_ITS_PLACE, msg), style_func, ending)

    def write_document(self, text: str) -> None:
        """Writes a file as it is."""
        super().write(text, ending="")


class PlainCommand(BaseCommand):
    """A command that writes to `stdout` and `stderr` by `PlainOutput`."""

    stdout: PlainOutput
    stderr: PlainOutput

    def __init__(
        self, stdout: TextIO | None = None, stderr: TextIO | None = None, **options: bool
    ) -> None:
        super().__init__(stdout, stderr, **options)
        self.stdout = PlainOutput(stdout or sys.stdout)
        self.stderr = PlainOutput(stderr or sys.stderr)
        self.stderr.style_func = self.style.ERROR

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Runs the command as Django does, with its output or that of whoever calls it."""
        for name in ("stdout", "stderr"):
            if options.get(name):
                setattr(self, name, PlainOutput(options.pop(name)))
        return super().execute(*args, **options)
