"""`manage.py transcripts export`."""

import csv
from io import BytesIO, StringIO, TextIOWrapper
import json
from pathlib import Path
import sys
from typing import Any

from django.core.management import CommandError, call_command
from django.utils import timezone
import pytest

from copilot_admin.management.commands import transcripts
from copilot_admin.models import Cause, Removal
from tests.factories import make_version
from tests.transcripts.store.journaling import Client

pytestmark = pytest.mark.django_db


def export(*arguments: str) -> str:
    """Runs the command, and says what it tells the person."""
    told = StringIO()
    call_command("transcripts", "export", *arguments, stderr=told)
    return told.getvalue()


def asked(slug: str, text: str) -> None:
    version = make_version(slug=slug)
    Client(version=version, trace_id="t").ask(text).answer("Yes.")


def test_a_file_has_what_the_filters_leave(tmp_path: Path):
    asked("desk", "Rates?")
    asked("other", "Rates?")
    file = tmp_path / "out.csv"
    arguments = ("--format", "csv", "--output", str(file), "--copilot", "desk")
    assert export(*arguments, "--filter", "outcome=completed", "--search", "rates") == (
        "Conversations: 1, questions: 1\n"
    )
    rows = list(csv.DictReader(StringIO(file.read_text(encoding="utf-8-sig"), newline="")))
    assert [(row["copilot"], row["question"]) for row in rows] == [("desk", "Rates?")]
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_stream_goes_to_standard_output(monkeypatch):
    asked("desk", "Rates?")
    caught = BytesIO()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", TextIOWrapper(caught, write_through=True))
        export("--format", "jsonl", "--output", "-", "--with-data", "--with-prompts")
        data = caught.getvalue()
    assert json.loads(data)["messages"][-1] == {"role": "assistant", "content": "Yes."}


def test_a_file_over_which_an_erasure_went_is_not_kept(tmp_path: Path, monkeypatch):
    asked("desk", "Rates?")
    file = tmp_path / "out.csv"

    def erased_meanwhile(*given: Any) -> tuple[int, int]:
        found = written(*given)
        cause = Cause.ERASURE
        Removal.objects.create(cause=cause, conversation=1, moved_at=timezone.now())
        return found

    written = transcripts._write
    monkeypatch.setattr(transcripts, "_write", erased_meanwhile)
    with pytest.raises(CommandError, match="Export again"):
        export("--format", "csv", "--output", str(file))
    assert not file.exists()
