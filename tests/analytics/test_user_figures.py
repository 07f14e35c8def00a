"""Figures of users are those of the rollups, as far as these users asked."""

from dataclasses import replace
from datetime import timedelta

import pytest

from copilot_admin.analytics.figures import Counts, Figures
from copilot_admin.analytics.periods import read_period
from copilot_admin.analytics.rollup_figures import figures_of
from copilot_admin.analytics.user_figures import figures_of_users
from copilot_admin.copilots.users import AskingUser
from copilot_admin.models import Criterion, EndUser, Outcome
from copilot_admin.transcripts.feedback import GivenFeedback, store_turn_feedback
from copilot_admin.transcripts.verdicts import GivenVerdict, save_verdict
from tests.factories import make_user
from tests.transcripts.store.journaling import START, Client, ai, ending

pytestmark = pytest.mark.django_db

PERIODS = [
    read_period({"days": days}, at=START + timedelta(hours=offset))
    for days, offset in (("1", 1), ("7", 20), ("7", 24 * 7), ("30", 1))
]


def a_day_of(name: str, *, votes: tuple[str, str] = ("thumbs_up", "thumbs_down")) -> Client:
    """An answer and one that fails, in a conversation; thumbs on both and verdicts on all."""
    client = Client(trace_id="chat", user=AskingUser(id=name), now=START)
    first = client.ask("Hi").answer("Hello")
    failed = ending(Outcome.FAILED, error_code="no-model", ttft_ms=70_000)
    client.now += timedelta(hours=2)
    last = client.ask("Hi", ai("Hello"), "More?").answer("x", ended=failed)
    score = Criterion.objects.create(name=f"Score of {name}", kind="score", lowest=1, highest=5)
    for one, vote in zip((first, last), votes, strict=True):
        turn = one.run.turn
        assert turn is not None
        store_turn_feedback(GivenFeedback.model_validate({"vote": vote}), turn=turn)
        save_verdict(
            one.conversation,
            make_user(),
            GivenVerdict(rating="good", comment="", marks={score.pk: 4}),
            turn=turn.pk,
        )
    save_verdict(last.conversation, make_user(), GivenVerdict(rating="bad", comment="", marks={}))
    return client


def users(*names: str) -> list[int]:
    return [EndUser.objects.get(identifier=name).pk for name in names]


def normal(figures: Figures) -> Figures:
    """The same whatever stands in rows of nothing."""

    def full(counts: Counts) -> Counts:
        return counts + Counts()

    return replace(
        figures,
        now=full(figures.now),
        before=full(figures.before),
        series=[(span, full(counts)) for span, counts in figures.series],
        models=[replace(one, counts=full(one.counts)) for one in figures.models],
        versions=[replace(one, counts=full(one.counts)) for one in figures.versions],
    )


@pytest.mark.nightly
def test_those_of_all_users_are_those_of_the_rollups() -> None:
    client = a_day_of("ada")
    a_day_of("bob")
    everybody = users("ada", "bob")
    own = [client.version.copilot_id]
    for period in PERIODS:
        assert normal(figures_of_users(period, everybody)) == normal(figures_of(period))
        assert normal(figures_of_users(period, everybody, own)) == normal(figures_of(period, own))


def test_nothing_of_another_user_is_counted_in_them() -> None:
    a_day_of("ada")
    period = PERIODS[1]
    alone = normal(figures_of(period))
    a_day_of("bob")
    Client(user=None).ask("Of nobody").answer("Hello")
    assert normal(figures_of_users(period, users("ada"))) == alone
    assert figures_of_users(period, ()).now["runs"] == 0
