"""Replays: each question asked once of one target, paused, bounded, stopped, taken up again."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone
import pytest

from copilot_admin.copilots.publishing import publish
from copilot_admin.errors import ConfigurationError, ProviderRefused
from copilot_admin.evaluation import question_asker, replay_queue
from copilot_admin.evaluation.differences import PartKind, TextPart
from copilot_admin.evaluation.replay_decisions import ReplayWish
from copilot_admin.evaluation.replay_queue import begin, claim, claim_stalled, grant
from copilot_admin.evaluation.replay_reading import (
    ReplayView,
    pair_differences,
    pairs_of,
    replay_views,
)
from copilot_admin.evaluation.replay_targets import WantedTarget, replay_of, target_of_replay
from copilot_admin.evaluation.replay_tasks import (
    replay_here,
    replay_in_background,
    resume_replays,
    wish,
)
from copilot_admin.jobs import tasks as background_tasks
from copilot_admin.jobs.deletion import delete_batch, mark_for_deletion
from copilot_admin.jobs.tasks import BACKGROUND, BatchResult
from copilot_admin.models import (
    AnswerState,
    Baseline,
    Conversation,
    Copilot,
    DailyUsage,
    Judgement,
    RecordedAnswer,
    Replay,
    ReplayAnswer,
    ReplayState,
    ReplayTarget,
    Run,
    SavedAnswer,
    SavedQuestion,
    Side,
)
from tests.agent.scripted import broken, stalled, text
from tests.evaluation.questions import script
from tests.factories import make_copilot, make_provider, make_published, make_saved, make_user
from tests.polling import HANGS_SECONDS, eventually

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _background_is_open() -> None:
    background_tasks.start()


def recorded(saved: SavedQuestion, said: str = "Before.", **changes: Any) -> RecordedAnswer:
    return RecordedAnswer.objects.create(
        **{
            "question": saved,
            "conversation": 1,
            "turn": saved.pk,
            "text": said,
            "ms": 900_000,
            "cost": Decimal("0.5"),
            "input_tokens": 10,
            "answered_at": timezone.now(),
            **changes,
        }
    )


def replay(copilot: Copilot, **wanted: Any) -> Replay:
    made = replay_of(copilot, WantedTarget(**wanted))
    made.asked_by = make_user()
    return replay_in_background(made, SavedQuestion.objects.filter(copilot=copilot))


def idle() -> None:
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)


def view_of(made: Replay) -> ReplayView:
    (view,) = replay_views(Replay.objects.filter(pk=made.pk))
    return view


def test_a_replay_asks_each_question_and_says_what_changed(monkeypatch):
    copilot = make_copilot()
    same, other, new = (make_saved(copilot, f"{one}?") for one in ("Same", "Other", "New"))
    recorded(same, "Now.")
    recorded(other, "Then <b>.", ms=60_000)
    script(monkeypatch, *[text("Now.")] * 3)
    made = replay(copilot)
    idle()
    view = view_of(made)
    assert view.replay.state == ReplayState.DONE
    assert view.replay.finished_at
    assert (view.tally.total, view.tally.unfinished, view.tally.compared) == (3, 0, 2)
    assert view.summary == "1 of 2 changed, cost −100 %"  # nobody counted tokens
    rows = list(ReplayAnswer.objects.filter(replay=made))
    assert [row.is_changed for row in rows] == [False, True, None]
    assert [row.baseline for row in rows] == ["recorded", "recorded", "none"]
    assert [row.question for row in rows] == [same, other, new]
    assert rows[2].judgement == Judgement.ANSWERED
    assert pair_differences(rows[0]) == (TextPart(PartKind.SAME, "Now."),)
    assert TextPart(PartKind.GONE, "Then <b>") in pair_differences(rows[1])
    assert pair_differences(rows[2]) == ()
    assert [row.head for row in pairs_of(made.pk, "changed")] == ["Other?"]


def test_a_replay_is_a_trial_that_no_figure_counts(monkeypatch):
    copilot = make_copilot()
    make_saved(copilot)
    script(monkeypatch, text("Now."))
    replay(copilot)
    idle()
    assert Run.objects.get().principal.startswith("playground:")
    assert not Conversation.objects.of_callers().exists()
    assert not DailyUsage.objects.exists()


def test_the_draft_is_asked_as_it_stood_at_the_start(monkeypatch):
    copilot = make_copilot(system_prompt="Be short.")
    make_saved(copilot)
    made = replay_of(copilot, WantedTarget())
    Copilot.objects.update(system_prompt="Be long.")
    begin(made, SavedQuestion.objects.all())
    provider = script(monkeypatch, text("Now."))
    replay_here(made.pk)
    assert "Be short." in str(provider.calls[0].messages)
    assert Copilot.objects.get().system_prompt == "Be long."


def test_a_version_and_another_model_are_asked(monkeypatch):
    copilot = make_published(system_prompt="First.")
    copilot.system_prompt = "Second."
    copilot.save()
    make_saved(copilot)
    other = make_provider()
    provider = script(monkeypatch, text("A."), text("B."))
    old = replay(copilot, target=ReplayTarget.VERSION, version_number=1)
    idle()
    new = replay(copilot, target=ReplayTarget.MODEL, provider=other, model="big-9")
    idle()
    assert "First." in str(provider.calls[0].messages)
    assert "Second." in str(provider.calls[1].messages)
    assert [call.model for call in provider.calls][1] == "big-9"
    assert view_of(old).asked == "Version 1"
    assert view_of(new).asked == f"The draft with big-9 of {other.name}"
    copilot.refresh_from_db()
    assert (copilot.system_prompt, copilot.model != "big-9") == ("Second.", True)
    publish(copilot, user=None)  # what was replayed changed nothing


def test_what_cannot_be_asked_is_refused_in_words():
    copilot = make_copilot()
    for wanted, words in (
        (WantedTarget(target=ReplayTarget.VERSION, version_number=7), "no version 7"),
        (WantedTarget(target=ReplayTarget.MODEL), "which model"),
    ):
        with pytest.raises(ConfigurationError) as error:
            replay_of(copilot, wanted)
        assert words in error.value.public
    with pytest.raises(ConfigurationError, match="no such question"):
        begin(replay_of(copilot, WantedTarget()), SavedQuestion.objects.all())


def test_a_replay_is_of_a_thousand_questions_at_most(monkeypatch):
    copilot = make_copilot()
    make_saved(copilot)
    make_saved(copilot)
    monkeypatch.setattr(replay_queue, "MOST_REPLAYED", 1)
    with pytest.raises(ConfigurationError, match="1 questions at most"):
        begin(replay_of(copilot, WantedTarget()), SavedQuestion.objects.all())
    assert not Replay.objects.exists()


def test_a_target_that_is_gone_says_so_of_each_question():
    copilot = make_published()
    make_saved(copilot)
    made = begin(replay_of(copilot, WantedTarget()), SavedQuestion.objects.all())
    Replay.objects.update(provider=None)
    made.refresh_from_db()
    assert target_of_replay(made).problem == "The provider that was asked is gone."
    replay_here(made.pk)
    assert view_of(made).tally.failed == 1
    Replay.objects.update(target=ReplayTarget.VERSION, version_number=9)
    made.refresh_from_db()
    assert target_of_replay(made).problem == "The version that was asked is gone."


def test_without_a_recorded_answer_the_last_live_one_is_the_baseline(monkeypatch):
    copilot = make_copilot()
    live, undecided = make_saved(copilot), make_saved(copilot)
    for saved, judgement, said in (
        (live, Judgement.ANSWERED, "Live."),
        (undecided, Judgement.UNDECIDED, ""),
    ):
        SavedAnswer.objects.create(
            question=saved,
            side=Side.LIVE,
            state=AnswerState.DONE,
            judgement=judgement,
            text=said,
            ms=5,
            answered_at=timezone.now(),
        )
    script(monkeypatch, text("Now."), text("Now."))
    made = replay(copilot)
    idle()
    rows = list(ReplayAnswer.objects.filter(replay=made))
    assert [(row.baseline, row.before_text) for row in rows] == [
        (Baseline.LIVE, "Live."),
        (Baseline.NONE, ""),
    ]


def test_a_question_that_failed_is_counted_and_compared_with_nothing(monkeypatch):
    copilot = make_copilot()
    recorded(make_saved(copilot))
    script(monkeypatch, broken(ProviderRefused("Away.")))
    made = replay(copilot)
    idle()
    view = view_of(made)
    assert (view.tally.failed, view.tally.compared) == (1, 0)
    assert view.summary == "1 failed"


def test_a_bound_on_cost_stops_it_with_a_sentence_and_a_higher_one_lets_it_go_on(monkeypatch):
    copilot = make_copilot()
    for number in range(4):
        make_saved(copilot, f"{number}?")
    made = begin(
        replay_of(copilot, WantedTarget(most_cost=Decimal("0.15"))), SavedQuestion.objects.all()
    )
    script(monkeypatch, *[text("Now.")] * 4)
    whole = replay_queue.keep

    def costing(claimed, result):
        kept = whole(claimed, result)
        ReplayAnswer.objects.filter(pk=claimed.answer_id).update(cost=Decimal("0.1"))
        return kept

    monkeypatch.setattr("copilot_admin.evaluation.replay_tasks.keep", costing)
    replay_here(made.pk)
    view = view_of(made)
    assert view.replay.state == ReplayState.COST_BOUND
    assert view.tally.done == 2
    assert view.why.startswith("It stopped at its bound of $0.15.")
    Replay.objects.update(most_cost=Decimal(9))
    assert wish(made.pk, ReplayWish.RESUME)
    idle()
    assert view_of(made).replay.state == ReplayState.DONE


def test_a_replay_is_paused_goes_on_and_is_stopped_at_will(monkeypatch):
    monkeypatch.setattr(question_asker, "LOOK_SECONDS", 0.01)
    copilot = make_copilot()
    for number in range(5):
        make_saved(copilot, f"{number}?")
    made = begin(replay_of(copilot, WantedTarget()), SavedQuestion.objects.all())
    assert grant(made.pk, ReplayWish.PAUSE)
    assert claim(made.pk, at_once=9) is None
    assert not grant(made.pk, ReplayWish.PAUSE)
    provider = script(monkeypatch, *[stalled("It ")] * 5)
    assert wish(made.pk, ReplayWish.RESUME)
    assert eventually(lambda: provider.open == 3)
    assert view_of(made).tally.spent.under_way == 3
    assert wish(made.pk, ReplayWish.STOP)
    idle()
    view = view_of(made)
    assert (view.replay.state, view.tally.done, view.is_going_on) == ("stopped", 0, False)
    assert not wish(made.pk, ReplayWish.RESUME)
    assert not wish(10**9, ReplayWish.STOP)


def test_each_question_is_claimed_once_and_those_of_the_dead_are_asked_again():
    copilot = make_copilot()
    for number in range(3):
        make_saved(copilot, f"{number}?")
    made = begin(replay_of(copilot, WantedTarget()), SavedQuestion.objects.all())
    first = claim(made.pk, at_once=2)
    second = claim(made.pk, at_once=2)
    assert first
    assert second
    assert first.answer_id != second.answer_id
    assert claim(made.pk, at_once=2) is None
    ReplayAnswer.objects.filter(pk=first.answer_id).update(
        claimed_at=timezone.now() - timedelta(minutes=1)
    )
    again = claim(made.pk, at_once=2)
    assert again
    assert again.answer_id == first.answer_id


def test_a_replay_that_nobody_goes_on_with_is_taken_up_by_one(monkeypatch):
    copilot = make_copilot()
    make_saved(copilot)
    made = begin(replay_of(copilot, WantedTarget()), SavedQuestion.objects.all())
    assert claim_stalled() == []
    Replay.objects.update(moved_at=timezone.now() - timedelta(minutes=1))
    assert claim_stalled() == [made.pk]
    assert claim_stalled() == []
    Replay.objects.update(moved_at=timezone.now() - timedelta(minutes=1))
    script(monkeypatch, text("Now."))
    resume_replays()
    idle()
    assert view_of(made).replay.state == ReplayState.DONE


def test_a_question_that_is_deleted_meanwhile_is_said_and_its_answer_stays(monkeypatch):
    copilot = make_copilot()
    kept, gone = make_saved(copilot, "Kept?"), make_saved(copilot, "Gone?")
    made = begin(replay_of(copilot, WantedTarget()), SavedQuestion.objects.all())
    gone.delete()
    script(monkeypatch, text("Now."))
    replay_here(made.pk)
    kept.delete()
    rows = list(ReplayAnswer.objects.filter(replay=made))
    assert [(row.head, row.text, bool(row.failure)) for row in rows] == [
        ("Kept?", "Now.", False),
        ("Gone?", "", True),
    ]
    assert view_of(made).replay.state == ReplayState.DONE


def test_a_copilot_is_deleted_with_its_replays():
    copilot = make_copilot()
    recorded(make_saved(copilot))
    made = begin(replay_of(copilot, WantedTarget()), SavedQuestion.objects.all())
    mark_for_deletion([copilot.pk])
    assert claim(made.pk, at_once=9) is None
    step = BatchResult.MORE
    while step is not BatchResult.DONE:
        with transaction.atomic():
            step = delete_batch(copilot.pk)
    assert not Replay.objects.exists()
    assert not RecordedAnswer.objects.exists()


def test_what_questions_bring_is_read_one_at_a_time(monkeypatch, django_assert_max_num_queries):
    copilot = make_copilot()
    for number in range(3):
        make_saved(copilot, f"{number}?", body={"widgets": [{"id": "w", "text": "x" * 1000}]})
    with django_assert_max_num_queries(6) as queries:
        begin(replay_of(copilot, WantedTarget()), SavedQuestion.objects.all())
    assert not any('"body"' in query["sql"] for query in queries.captured_queries)
