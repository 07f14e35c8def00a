"""Whatever happens in whatever order, rollups equal a full count: by hour, copilot, version and model."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils import timezone
import pytest

from copilot_admin.analytics.metrics import Counts, add_counts
from copilot_admin.analytics.periods import Period, Span
from copilot_admin.analytics.rollups import RollupSource, Scope
from copilot_admin.jobs.removal import begin_erasure, remove_batch
from copilot_admin.jobs.tasks import BatchResult
from copilot_admin.models import (
    Conversation,
    Copilot,
    CopilotVersion,
    Criterion,
    CriterionKind,
    Logging,
    Outcome,
    ReviewQueue,
    Run,
    Turn,
    Verdict,
)
from copilot_admin.privacy.scopes import PrivacyScope
from copilot_admin.review.queues import add_to_queue, claim_next, finish_assignments
from copilot_admin.transcripts.feedback import GivenFeedback, store_turn_feedback
from copilot_admin.transcripts.store.checkpoints import reap
from copilot_admin.transcripts.verdicts import GivenVerdict, save_verdict
from tests.factories import make_copilot, make_user, make_version
from tests.transcripts.store.full_count import full_count, rollups
from tests.transcripts.store.journaling import Asked, Client, ai, ending

pytestmark = [pytest.mark.database, pytest.mark.django_db]

# Three quarters of an hour beside the hours of UTC, a day ahead, and days of 23 and of 25 hours.
ZONES = [ZoneInfo(name) for name in ("Asia/Kathmandu", "Pacific/Kiritimati", "America/St_Johns")]
# Around the ends of hours, days and a leap day; one in an hour that St. John's has twice.
MOMENTS = [
    datetime(2026, 10, 31, 23, 59, 59, 999_999, UTC) - timedelta(seconds=1),
    datetime(2026, 11, 1, 4, 29, 58, tzinfo=UTC),
    datetime(2026, 11, 1, 23, 59, 58, 500_000, UTC),
    datetime(2028, 2, 28, 23, 59, 59, tzinfo=UTC) - timedelta(seconds=1),
    datetime(2028, 2, 29, 18, 14, 59, tzinfo=UTC),
]
ENDS = [
    one for one in Outcome if one not in (Outcome.RUNNING, Outcome.REFUSED, Outcome.INTERRUPTED)
]


@dataclass
class World:
    """People who ask, judge and delete by the numbers of one seed."""

    random: Random
    versions: list[CopilotVersion]
    clients: list[tuple[Client, list[Any]]] = field(default_factory=list)
    running: list[Asked] = field(default_factory=list)
    gone: dict[str, dict[Any, Counter[str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.judges = [make_user(), make_user(), make_user()]
        self.label = Criterion.objects.create(name="Wrong")
        self.score = Criterion.objects.create(name="Depth", kind=CriterionKind.SCORE)

    def ask(self) -> None:
        """A new conversation, the next question, an edit, or the same again; it ends, or runs on."""
        if not self.clients or self.random.random() < 0.4:
            number = len(self.clients)
            logging = self.random.choice([*[Logging.EVERYTHING] * 4, *Logging])
            who = self.random.choice(["anonymous", "key:1", "playground:1"])
            version = self.random.choice(self.versions)
            client = Client(version=version, trace_id=f"t-{number}", logging=logging, principal=who)
            self.clients.append((client, ["Q0"]))
        client, history = self.random.choice(self.clients)
        later = [one for one in MOMENTS if one > client.now]
        client.now = self.random.choice(later or [client.now]).astimezone(self.random.choice(ZONES))
        what = self.random.randrange(3)
        if what == 0 and client.logging is Logging.EVERYTHING:
            history += [ai("A"), f"Q{len(history)}"]
        elif what == 1:
            history[-1] = f"Edited {self.random.randrange(9)}"
        asked = client.ask(*history)
        if self.random.random() < 0.2:
            self.running.append(asked)
        else:
            self.end(asked)

    def end(self, asked: Asked) -> None:
        outcome = self.random.choice(ENDS)
        code = self.random.choice(["no-model", "Timeout"]) if outcome == Outcome.FAILED else ""
        ttft = self.random.choice([None, 0, 50, 51, 3_500, 90_000])
        asked.answer("A", ended=ending(outcome, error_code=code, ttft_ms=ttft))

    def end_late(self) -> None:
        """What ran on ends, or seemed dead first."""
        if self.running and self.random.random() < 0.5:
            Run.objects.filter(outcome=Outcome.RUNNING).update(boot_id="another")
            reap(every_other_boot=True)
        if self.running:
            self.end(self.running.pop())

    def thumb(self) -> None:
        if turn := self._some(Turn):
            vote = self.random.choice(["thumbs_up", "thumbs_down"])
            store_turn_feedback(GivenFeedback.model_validate({"vote": vote}), turn=turn)

    def judge(self) -> None:
        if not (talk := self._some(Conversation)):
            return
        author = self.random.choice(self.judges)
        marks = {self.label.pk: 1, self.score.pk: self.random.randint(1, 5)}
        kept = {pk: value for pk, value in marks.items() if self.random.random() < 0.6}
        rating = self.random.choice(["good", "mixed", "bad"])
        judged = GivenVerdict(rating=rating, comment="", marks=kept)
        turn = Turn.objects.filter(conversation=talk).order_by("pk").first()
        if turn and self.random.random() < 0.5:
            save_verdict(talk, author, judged, turn=turn.pk)
            return
        with transaction.atomic():
            finish_assignments(talk.pk, author, now=timezone.now())
            save_verdict(talk, author, judged)

    def queue(self) -> None:
        """A queue is made, handed out, closed or opened."""
        queue = self._some(ReviewQueue)
        if queue is None or self.random.random() < 0.3:
            talks = Conversation.objects.order_by("pk").values_list("pk", flat=True)
            some = [pk for pk in talks if self.random.random() < 0.5]
            judges = self.random.choice([1, 2, 2])
            add_to_queue(ReviewQueue.objects.create(name="Week", judges=judges), some)
        elif self.random.random() < 0.6:
            claim_next(queue, self.random.choice(self.judges), now=timezone.now())
        else:
            queue.is_closed = not queue.is_closed
            queue.save()

    def erase(self) -> None:
        """Conversations go; their counts stay."""
        talk = self._some(Conversation)
        if talk is None or Run.objects.filter(outcome=Outcome.RUNNING, conversation=talk).exists():
            return
        self.running = [one for one in self.running if one.accepted.conversation_id != talk.pk]
        before = full_count()
        removal = begin_erasure(PrivacyScope(conversation=talk.pk))
        while remove_batch(removal.pk) is BatchResult.MORE:
            pass
        after = full_count()
        for table, counts in before.items():
            kept = self.gone.setdefault(table, {})
            for key, numbers in counts.items():
                kept.setdefault(key, Counter()).update(
                    {
                        name: n - after[table].get(key, {}).get(name, 0)
                        for name, n in numbers.items()
                    }
                )

    def expected(self) -> dict[str, dict[Any, Counter[str]]]:
        """A full count, and what had been counted of what is gone."""
        found = full_count()
        for table, counts in self.gone.items():
            for key, numbers in counts.items():
                found[table].setdefault(key, Counter()).update(numbers)
        return found

    def _some(self, model: Any) -> Any:
        rows = list(model.objects.order_by("pk"))
        return self.random.choice(rows) if rows else None


def nonzero(tables: dict[str, dict[Any, Any]]) -> dict[str, dict[Any, dict[str, Any]]]:
    """Without rows and columns of nothing; who asked is a set, and not a sum."""
    return {
        table: {
            key: found
            for key, numbers in counts.items()
            if (found := {name: number for name, number in numbers.items() if number})
        }
        for table, counts in tables.items()
        if table != "CallerDay"
    }


def summed(rows: Iterator[Counter[str]]) -> dict[str, Any]:
    return {name: number for name, number in sum(rows, Counter[str]()).items() if number}


def numbers_of(counts: Counts) -> dict[str, Any]:
    return {name: number for name, number in counts.numbers.items() if number}


def check_analytics(expected: dict[str, dict[Any, Counter[str]]], random: Random) -> None:
    """Check sums, series and groups of a period and of the one before; of one copilot alone too."""
    first = random.choice(MOMENTS).replace(hour=0, minute=0, second=0, microsecond=0)
    length = timedelta(days=random.choice([1, 2, 30]))
    now, before = Span(first, first + length), Span(first - length, first)
    copilots = random.choice(
        [None, [random.choice(list(Copilot.objects.values_list("pk", flat=True)))]]
    )
    source, period = (
        RollupSource(Scope(copilots=copilots)),
        Period(name="own", now=now, before=before),
    )
    hours = {
        key: numbers
        for key, numbers in expected["HourlyUsage"].items()
        if copilots is None or key[1] in copilots
    }

    def within(span: Span) -> dict[Any, Counter[str]]:
        return {key: one for key, one in hours.items() if span.first <= key[0] < span.end}

    for span in (now, before):
        assert numbers_of(source.total(span)) == summed(iter(within(span).values()))
    series = add_counts(source.series(period).values())
    assert numbers_of(series) == numbers_of(source.total(now))
    for names, parts in ((("model",), slice(3, 4)), (("copilot_id", "version"), slice(1, 3))):
        for group, counts in source.groups(now, *names).items():
            of_group = (one for key, one in within(now).items() if key[parts] == group)
            assert numbers_of(counts) == summed(of_group)


@pytest.mark.parametrize(
    ("seed", "steps"),
    [(1, 60), *(pytest.param(n, 400, marks=pytest.mark.nightly) for n in range(20))],
)
def test_rollups_equal_a_full_count_whatever_happens(seed: int, steps: int):
    random = Random(seed)  # the same every time
    copilot = make_copilot()
    world = World(random, [make_version(copilot), make_version(), make_version()])
    deeds = [*[world.ask] * 4, world.end_late, *[world.thumb] * 2, *[world.judge] * 3]
    for _ in range(steps):
        with timezone.override(random.choice(ZONES)):
            random.choice([*deeds, world.queue, world.erase])()
    while world.running:
        world.end_late()
    expected = world.expected()
    assert nonzero(rollups()) == nonzero(expected)
    with timezone.override(random.choice(ZONES)):
        for _ in range(3):
            check_analytics(expected, random)
    assert Verdict.objects.exists()
