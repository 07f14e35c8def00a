"""`manage.py privacy` says what would go, and acts with --yes alone."""

from datetime import timedelta

from django.core.management import CommandError, call_command
import pytest

from copilot_admin.jobs import removal as removal_job
from copilot_admin.management.commands import privacy
from copilot_admin.models import Conversation, Copilot, LegalHold, Removal
from tests.factories import make_version
from tests.transcripts.store.journaling import START, Client

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """A test is one transaction, in which no log can be emptied and nothing vacuumed."""
    monkeypatch.setattr(removal_job, "vacuum", lambda **_: None)
    monkeypatch.setattr(privacy, "rewrite_files", lambda: True)
    for module in (privacy, removal_job):
        monkeypatch.setattr(module, "truncate_wal", lambda: True)
    monkeypatch.setattr(privacy.clock, "sleep", lambda _: None)


def said(capsys, *words):
    call_command("privacy", *words)
    return capsys.readouterr().out.splitlines()


def test_erase_counts_first_and_acts_with_yes(capsys):
    talk = Client(principal="key:7", trace_id="a").ask("q").answer("a").conversation
    Client(trace_id="b").ask("q").answer("a")
    scope = ("--caller", "key:7", "--copilot", talk.copilot.slug, "--since", "2026-11-20")
    counted, dry = said(capsys, "erase", *scope, "--until", "2026-11-20")
    assert counted.startswith(
        "conversations: 1, held: 0, running: 0, requests: 1, turns: 1, messages: 2"
    )
    assert dry == privacy.DRY_RUN
    assert Conversation.objects.count() == 2
    *_, gone = said(capsys, "erase", *scope, "--yes", "--reason", "Ticket 5")
    assert "1 Conversation" in gone and Conversation.objects.count() == 1
    assert Removal.objects.get().reason == "Ticket 5"


def test_a_day_that_is_none_and_a_copilot_that_is_not_there_are_refused():
    for words, told in (
        (("erase",), "Select what to erase"),
        (("erase", "--since", "31.1.2026"), "is not a date"),
        (("erase", "--copilot", "nobody"), "There is no copilot 'nobody'"),
        (("hold", "--caller", "a"), "Give a reason"),
        (("hold", "--yes", "--reason", "r"), "Select what to hold"),
        (("hold", "--release", "5", "--yes"), "Hold 5 is not in force"),
        (("erase", "--until", "9999-12-31"), "is after"),
        (
            ("hold", "--since", "2026-02-01", "--until", "2026-01-31", "--reason", "r", "--yes"),
            "2026-01-31 is before --since 2026-02-01",
        ),
    ):
        with pytest.raises(CommandError, match=told):
            call_command("privacy", *words)
    assert not LegalHold.objects.exists()


def test_prune_does_what_a_night_does(capsys):
    assert said(capsys, "prune") == ["No copilot has a retention period."]
    version = make_version()
    Client(version=version, trace_id="old", now=START - timedelta(days=4000)).ask("q").answer("a")
    Client(version=version, trace_id="new", now=START + timedelta(days=4000)).ask("q").answer("a")
    Copilot.objects.update(retention_days=30)
    kept, counted, dry = said(capsys, "prune")
    assert kept == f"{version.copilot.slug}: transcripts are kept for 30 days."
    assert counted.startswith("conversations: 1") and dry == privacy.DRY_RUN
    assert said(capsys, "prune", "--yes")[-1].startswith("Removed: ")
    assert Conversation.objects.get().trace_id == "new"
    assert said(capsys, "prune", "--yes")[-1] == "Removed: nothing."


def test_holds_are_placed_listed_and_released(capsys):
    talk = Client(trace_id="a").ask("q").answer("a").conversation
    words = ("hold", "--conversation", str(talk.pk), "--reason", "Case 12", "--by", "ann")
    assert said(capsys, *words)[-1] == privacy.DRY_RUN
    assert not LegalHold.objects.exists()
    (placed,) = said(capsys, *words, "--yes")
    number = LegalHold.objects.get().pk
    assert placed == f"Placed hold {number}."
    assert said(capsys, "hold", "--list")[0].startswith(f"{number}: Case 12 (by ann since ")
    assert said(capsys, "hold", "--release", str(number))[-1] == privacy.DRY_RUN
    assert said(capsys, "hold", "--release", str(number), "--yes") == [f"Released hold {number}."]
    assert said(capsys, "hold", "--list") == []
