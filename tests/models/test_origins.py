"""Rows of before their origin was kept are told it, as far as anything says it."""

from importlib import import_module

from django.apps import apps
import pytest

from copilot_admin.models import Conversation, RecordedAnswer, Replay, ReplayAnswer, SavedAnswer
from tests.factories import make_saved, make_version
from tests.transcripts.store.journaling import START, Client

pytestmark = [pytest.mark.database, pytest.mark.django_db]
MIGRATION = import_module("copilot_admin.migrations.0056_origins")


def test_questions_replays_and_trials_are_told_where_they_come_from():
    version = make_version()
    talk = Client(version=version, trace_id="theirs").ask("q").answer("a").conversation
    trials = [
        Client(version=version, principal="playground:1", trace_id=name).ask("q").conversation
        for name in ("asked", "replayed", "own")
    ]
    learnt, typed = make_saved(version.copilot, "q"), make_saved(version.copilot, "typed")
    RecordedAnswer.objects.create(question=learnt, conversation=talk.pk, turn=1, answered_at=START)
    SavedAnswer.objects.create(question=learnt, side="draft", state="done", trace_id="asked")
    replay = Replay.objects.create(copilot=version.copilot, moved_at=START)
    answers = [
        ReplayAnswer.objects.create(
            replay=replay, question=one, position=place, head="q", trace_id=trace_id
        )
        for place, (one, trace_id) in enumerate([(learnt, "replayed"), (typed, "own")])
    ]
    MIGRATION.tell_origins(apps, None)
    for row in (talk, learnt, typed, *trials, *answers):
        row.refresh_from_db()
    assert [row.origin for row in (talk, learnt, typed)] == [None, talk.pk, None]
    assert [row.origin for row in trials] == [talk.pk, talk.pk, None]
    assert [row.origin for row in answers] == [talk.pk, None]
    assert Conversation.objects.filter(origin=talk.pk).count() == 2
