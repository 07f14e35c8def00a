"""Base of the commands: sanitised output, parsing of arguments, reading and writing of files."""

from argparse import ArgumentTypeError
from collections.abc import Mapping
from datetime import date
import os
from pathlib import Path
import re
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, OutputWrapper
from django.db.models import Model

from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.errors import ConfigurationError, CopilotError
from copilot_admin.models import Action, Provider

# Control characters but line feed and tab, and those that change the direction of a line.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class SanitizedOutput(OutputWrapper):
    """Output in which names and texts of others can't control the terminal."""

    def write(  # type: ignore[override]  # as Django's
        self, msg: str = "", style_func: Any = None, ending: str | None = None
    ) -> None:
        super().write(_UNSAFE.sub("\ufffd", msg), style_func, ending)

    def write_document(self, text: str) -> None:
        """Write the text of a file unchanged."""
        super().write(text, ending="")


class SanitizedCommand(BaseCommand):
    """Command that writes to `SanitizedOutput` and fails with the public text of an error."""

    error_status = 1
    stdout: SanitizedOutput
    stderr: SanitizedOutput

    def execute(self, *args: Any, **options: Any) -> str | None:
        self.stdout = SanitizedOutput(options.pop("stdout", None) or sys.stdout)
        self.stderr = SanitizedOutput(options.pop("stderr", None) or sys.stderr)
        self.stderr.style_func = self.style.ERROR
        try:
            return super().execute(*args, **options)
        except CopilotError as error:
            raise CommandError(error.public, returncode=self.error_status) from error

    def handle(self, *args: Any, **options: Any) -> None:
        """Call the method that the parser of an action names as `run`."""
        options.pop("run")(**options)

    def record(self, action: Action, on: Model | str, facts: Mapping[str, object]) -> None:
        """Add an entry about a row or a part of the product to the audit trail."""
        subject = Subject(on) if isinstance(on, str) else Subject.of(on)
        record(action, by=Actor.command(), on=subject, after=facts)


def parse_date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a date, use YYYY-MM-DD") from None


def get_provider(name: str) -> Provider:
    provider = Provider.objects.filter(name__iexact=name).first()
    if provider is None:
        raise ConfigurationError(f"There is no provider '{name}'. Add it in the admin first.")
    return provider


def read_file(path: Path, *, max_bytes: int) -> bytes:
    """Return a file, or enough of it to show that it is too large; `-` is standard input."""
    try:
        if str(path) == "-":
            return sys.stdin.buffer.read(max_bytes + 1)
        with path.open("rb") as file:
            return file.read(max_bytes + 1)
    except OSError as error:
        raise CommandError(f"Can't read {path}: {error.strerror}.") from error


def replace_file(path: Path, text: str) -> None:
    """Write a whole file or leave the old one, also if the disk is full."""
    if path.exists() and not path.is_file():  # a device or a pipe isn't replaced
        path.write_text(text, encoding="utf-8")
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
