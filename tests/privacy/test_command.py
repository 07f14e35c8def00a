"""`manage.py privacy` says what would go, and acts with --yes alone."""

from datetime import timedelta

from django.core.management import CommandError, call_command
import pytest

from copilot_admin.management.commands import privacy
from copilot_admin.models import Conversation, Copilot, LegalHold, Removal
from copilot_admin.privacy import holds
from copilot_admin.privacy.scopes import PrivacyScope
from tests.factories import make_version
from tests.transcripts.store.journaling import START, Client

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """A test is one transaction, in which no log can be emptied and nothing vacuumed."""
    monkeypatch.setattr(privacy, "vacuum", lambda: None)
    monkeypatch.setattr(privacy, "write_anew", lambda _: [])
    monkeypatch.setattr(privacy, "empty_log", lambda: True)
    monkeypatch.setattr(privacy.clock, "sleep", lambda _: None)


def said(capsys, *words):
    call_command("privacy", *words)
    return capsys.readouterr().out.splitlines()


def test_erase_counts_first_and_acts_with_yes(capsys):
    talk = Client(principal="key:7", trace_id="a").ask("q").answer("a").conversation
    Client(trace_id="b").ask("q").answer("a")
    scope = ("--caller", "key:7", "--copilot", talk.copilot.slug, "--since", "2026-11-20")
    counted, dry = said(capsys, "erase", *scope, "--until", "2026-11-20")
    assert counted.startswith("1 conversations with 1 questions, 2 messages, 0 thumbs")
    assert dry == "Nothing was done. Say --yes to do it."
    assert Conversation.objects.count() == 2
    *_, gone = said(capsys, "erase", *scope, "--yes", "--reason", "Ticket 5")
    assert "1 Conversation" in gone and Conversation.objects.count() == 1
    assert Removal.objects.get().reason == "Ticket 5"


def test_a_day_that_is_none_and_a_copilot_that_is_not_there_are_refused():
    for words, told in (
        (("erase",), "Say what is to be erased"),
        (("erase", "--since", "31.1.2026"), "is no day"),
        (("erase", "--copilot", "nobody"), "There is no copilot 'nobody'"),
        (("hold", "--caller", "a"), "Say why with --reason"),
        (("hold", "--yes", "--reason", "r"), "Say what is to be held"),
        (("hold", "--release", "5", "--yes"), "No hold 5 is in force"),
        (("erase", "--until", "9999-12-31"), "is no day"),
        (("erase", "--conversation", "-" + "9" * 20, "--yes"), "is no number of a row"),
        (("erase", "--conversation", "9" * 20, "--yes"), "is no number of a row"),
        (("hold", "--release", "9" * 20, "--yes"), "is no number of a row"),
        (
            ("hold", "--since", "2026-02-01", "--until", "2026-01-31", "--reason", "r", "--yes"),
            "2026-01-31 is before 2026-02-01",
        ),
        (("hold", "--caller", "a", "--reason", "r" * 501), "Write at most 500 characters, not 501"),
        (("hold", "--release", "5", "--by", "b" * 151), "Write at most 150 characters, not 151"),
        (("erase", "--caller", "a" * 101), "Write at most 100 characters, not 101"),
    ):
        with pytest.raises(CommandError, match=told):
            call_command("privacy", *words)
    assert not LegalHold.objects.exists()


def test_prune_does_what_a_night_does(capsys):
    assert said(capsys, "prune") == ["No copilot says for how long its transcripts are kept."]
    version = make_version()
    Client(version=version, trace_id="old", now=START - timedelta(days=4000)).ask("q").answer("a")
    Client(version=version, trace_id="new", now=START + timedelta(days=4000)).ask("q").answer("a")
    Copilot.objects.update(retention_days=30)
    kept, counted, dry = said(capsys, "prune", "--dry-run")
    assert kept == f"{version.copilot.slug}: kept for 30 days."
    assert counted.startswith("1 conversations") and dry.startswith("Nothing was done")
    assert said(capsys, "prune", "--yes")[-1].startswith("Removed: ")
    assert Conversation.objects.get().trace_id == "new"
    assert said(capsys, "prune", "--yes")[-1] == "Removed: nothing."


def test_holds_are_placed_listed_and_released(capsys):
    talk = Client(trace_id="a").ask("q").answer("a").conversation
    words = ("hold", "--conversation", str(talk.pk), "--reason", "Case 12", "--by", "ann")
    assert said(capsys, *words)[-1].startswith("Nothing was done")
    assert not LegalHold.objects.exists()
    (placed,) = said(capsys, *words, "--yes")
    number = LegalHold.objects.get().pk
    assert placed == f"Hold {number} is in force."
    assert said(capsys, "hold", "--list")[0].startswith(f"{number}: Case 12 (by ann since ")
    assert said(capsys, "hold", "--release", str(number))[-1].startswith("Nothing was done")
    assert said(capsys, "hold", "--release", str(number), "--yes") == [
        f"Hold {number} is released."
    ]
    assert said(capsys, "hold", "--list") == []


def test_what_still_runs_is_left_to_the_server():
    Client(trace_id="a").ask("q")
    with pytest.raises(CommandError, match="waits for answers that still run"):
        call_command("privacy", "erase", "--caller", "anonymous", "--yes")
    assert Conversation.objects.exists()


def test_a_log_that_somebody_reads_is_left_to_the_server(monkeypatch):
    monkeypatch.setattr(privacy, "empty_log", lambda: False)
    with pytest.raises(CommandError, match="Somebody reads the database"):
        call_command("privacy", "erase", "--caller", "anonymous", "--yes")
    assert Removal.objects.get().state == "scrub"


def test_files_are_written_anew_with_yes_alone(capsys):
    assert said(capsys, "clear-files")[-1].startswith("Nothing was done")
    assert said(capsys, "clear-files", "--yes") == [
        "The database's files hold nothing that is deleted."
    ]


def test_a_held_conversation_is_counted_and_stays(capsys):
    talk = Client(trace_id="a").ask("q").answer("a").conversation
    holds.place(PrivacyScope(conversation=talk.pk), reason="r", by="ann")
    counted, gone = said(capsys, "erase", "--conversation", str(talk.pk), "--yes")
    assert counted.endswith("1 conversations are held and stay.")
    assert gone == "Removed: nothing." and Conversation.objects.exists()
