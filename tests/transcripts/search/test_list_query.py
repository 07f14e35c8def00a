"""What the list shows of any filters is what a look at each conversation finds, page by page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
import random
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
import pytest

from copilot_admin.copilots.publishing import publish
from copilot_admin.models import (
    Conversation,
    Criterion,
    EndUser,
    Feedback,
    FeedbackSource,
    Mark,
    Outcome,
    Run,
    Turn,
    Verdict,
)
from copilot_admin.transcripts import filter_conditions
from copilot_admin.transcripts.exports.selection import next_window, read_selection
from copilot_admin.transcripts.search.list_query import ConversationList, RowKey
from tests.factories import make_copilot, make_key, make_provider

pytestmark = pytest.mark.django_db
TALKS = 40
PAGE = 7
FIRST = datetime(2026, 3, 27, 21, 30, tzinfo=UTC)  # clocks change in Europe on the 29th
OUTCOMES = [one.value for one in Outcome]
REASONS = ["Slow", "Неверно", '50 % "off"']
ERRORS = ["", "", "ProviderBusy", "no-model"]


@dataclass
class Talk:
    """A conversation as the test knows it."""

    row: Conversation
    slug: str
    tags: frozenset[str]
    user: str
    versions: set[int] = field(default_factory=set)
    models: set[str] = field(default_factory=set)
    providers: set[str] = field(default_factory=set)
    errors: set[str] = field(default_factory=set)
    reasons: set[str] = field(default_factory=set)
    labels: set[int] = field(default_factory=set)
    verdicts: set[str] = field(default_factory=set)


@dataclass
class World:
    """What is there, and what may be asked of it."""

    chance: random.Random
    talks: list[Talk]
    values: Mapping[str, list[str]]


def has(name: str) -> Callable[[Talk, str], bool]:
    return lambda talk, text: getattr(talk.row, f"has_{name}") is (text == "yes")


def day(text: str) -> date:
    return date.fromisoformat(text)


# Each filter once more, as Python says it.
MEANINGS: Mapping[str, Callable[[Talk, str], bool]] = {
    "copilot": lambda talk, text: talk.slug in text.split(","),
    "tag": lambda talk, text: text in talk.tags,
    "version": lambda talk, text: int(text) in talk.versions,
    "model": lambda talk, text: text in talk.models,
    "provider": lambda talk, text: text in talk.providers,
    "caller": lambda talk, text: talk.row.principal == text,
    "user": lambda talk, text: talk.user == text,
    "since": lambda talk, text: talk.row.last_at.date() >= day(text),
    "until": lambda talk, text: talk.row.last_at.date() <= day(text),
    "outcome": lambda talk, text: (
        talk.row.has_error if text == "any-failed" else talk.row.last_outcome == text
    ),
    "error": lambda talk, text: text in talk.errors,
    "judged": lambda talk, text: {
        "up": talk.row.n_up > 0,
        "down": talk.row.n_down > 0,
        "none": not (talk.row.n_up or talk.row.n_down),
    }[text],
    "reason": lambda talk, text: text in talk.reasons,
    "tokens-from": lambda talk, text: talk.row.tokens >= int(text),
    "tokens-to": lambda talk, text: talk.row.tokens <= int(text),
    "cost-from": lambda talk, text: talk.row.cost >= Decimal(text),
    "cost-to": lambda talk, text: talk.row.cost <= Decimal(text),
    "ttft-from": lambda talk, text: (
        talk.row.ttft_ms is not None and talk.row.ttft_ms >= 1000 * Decimal(text)
    ),
    "ttft-to": lambda talk, text: (
        talk.row.ttft_ms is not None and talk.row.ttft_ms <= 1000 * Decimal(text)
    ),
    "call": has("call"),
    "branch": has("branch"),
    "file": has("file"),
    "state": lambda talk, text: talk.row.review_state == text,
    "unpriced": lambda talk, text: (talk.row.n_unpriced > 0) is (text == "yes"),
    "label": lambda talk, text: int(text) in talk.labels,
    "verdict": lambda talk, text: text in talk.verdicts,
    "playground": lambda talk, text: text == "with" or talk.row.principal.startswith("playground:"),
}


def makes(chance: random.Random) -> World:
    """Conversations of all kinds, some of them in the same second."""
    providers = [make_provider(name=f"House {one}") for one in range(2)]
    versions = []
    for number in range(3):
        copilot = make_copilot(
            slug=f"desk-{number}", provider=providers[number % 2], tags=["all", f"of-{number % 2}"]
        )
        for model in ("small", "large"):
            copilot.model = model
            copilot.save()
            versions.append(publish(copilot, user=None))
    key = make_key()[0]
    users = [
        EndUser.objects.create(identifier=f"person-{one}", first_at=FIRST, last_at=FIRST)
        for one in range(2)
    ]
    labels = [Criterion.objects.create(name=f"Label {one}") for one in range(2)]
    judge = User.objects.create(username="judge")
    callers = ["anonymous", f"key:{key.pk}", f"playground:{judge.pk}"]
    begun = sorted(FIRST + timedelta(minutes=chance.randrange(96 * 60)) for _ in range(TALKS))
    talks = [_talk(chance, at, versions, [*users, None], callers, labels, judge) for at in begun]
    days = [(FIRST + timedelta(days=one)).date().isoformat() for one in range(-1, 6)]
    whole = [str(one) for one in (0, 1, 2, 500, 1000, 1001)]
    dollars = ["0", "0.0004", "0.5", "0.50", "1"]
    seconds = ["0", "1.001", "1.005", "0.5", "2.3", "4.353"]
    yes = ["yes", "no"]
    values = {
        "copilot": ["desk-0", "desk-1", "desk-2", "desk-0,desk-2"],
        "tag": ["all", "of-0", "of-1"],
        "version": ["1", "2", "3"],
        "model": ["small", "large", "none"],
        "provider": [one.name for one in providers],
        "caller": callers[:2],
        "user": [one.identifier for one in users],
        "since": days,
        "until": days,
        "outcome": [*OUTCOMES, "any-failed"],
        "error": ["ProviderBusy", "no-model", "none"],
        "judged": ["up", "down", "none"],
        "reason": [*REASONS, "None"],
        "tokens-from": whole,
        "tokens-to": whole,
        "cost-from": dollars,
        "cost-to": dollars,
        "ttft-from": seconds,
        "ttft-to": seconds,
        "call": yes,
        "branch": yes,
        "file": yes,
        "state": ["new", "in_review", "done"],
        "unpriced": yes,
        "label": [str(one.pk) for one in labels],
        "verdict": ["good", "mixed", "bad"],
        "playground": ["with", "only"],
    }
    return World(chance, talks, values)


def _talk(
    chance: random.Random,
    first_at: datetime,
    versions: list[Any],
    users: list[EndUser | None],
    callers: list[str],
    labels: list[Criterion],
    judge: User,
) -> Talk:
    version = chance.choice(versions)
    user = chance.choice(users)
    midnight = datetime.combine(first_at.date() + timedelta(days=1), time.min, UTC)
    at = chance.choice(
        [
            first_at,
            first_at.replace(minute=0) + timedelta(hours=chance.choice([1, 1, 30])),
            midnight,
            midnight - timedelta(microseconds=1),
        ]
    )
    row = Conversation.objects.create(
        copilot=version.copilot,
        principal=chance.choice(callers),
        user=user,
        first_at=first_at,
        last_at=at,
        n_unpriced=chance.choice([0, 0, 2]),
        tokens=chance.choice([0, 1, 2, 500, 1000, 1001]),
        cost=chance.choice([Decimal(0), Decimal("0.0004"), Decimal("0.5"), Decimal(1)]),
        ttft_ms=chance.choice([None, 0, 500, 1000, 1001, 1004, 1005, 2300, 4353]),
        last_outcome=chance.choice(OUTCOMES),
        has_error=chance.random() < 0.3,
        has_branch=chance.random() < 0.3,
        has_call=chance.random() < 0.3,
        has_file=chance.random() < 0.3,
        review_state=chance.choice(["new", "in_review", "done"]),
    )
    talk = Talk(
        row,
        version.copilot.slug,
        frozenset(version.copilot.tags),
        str(user.identifier if user else ""),
    )
    for _ in range(chance.randrange(3)):
        _turn(chance, talk, version, labels, judge)
    return talk


def _turn(
    chance: random.Random, talk: Talk, version: Any, labels: list[Criterion], judge: User
) -> None:
    at = talk.row.last_at
    turn = Turn.objects.create(conversation=talk.row, started_at=at)
    for _ in range(chance.randrange(1, 3)):
        run = Run.objects.create(
            conversation=talk.row,
            turn=turn,
            copilot=talk.row.copilot,
            copilot_version=version,
            model=version.document["model"],
            provider=version.copilot.provider.name,
            error_code=chance.choice(ERRORS),
            started_at=at,
            heartbeat_at=at,
        )
        talk.versions.add(version.number)
        talk.models.add(run.model)
        talk.providers.add(run.provider)
        talk.errors |= {run.error_code} - {""}
    if chance.random() < 0.4:
        tags = chance.sample(REASONS, chance.randrange(3))
        value = chance.choice([1, -1])
        Feedback.objects.create(turn=turn, source=FeedbackSource.END_USER, value=value, tags=tags)
        counter = "n_up" if value > 0 else "n_down"
        setattr(talk.row, counter, getattr(talk.row, counter) + 1)
        talk.row.save()
        talk.reasons |= set(tags)
    if chance.random() < 0.3:
        rating = chance.choice(["good", "mixed"])
        verdict = Verdict.objects.create(
            conversation=talk.row, turn=turn, author=judge, rating=rating
        )
        talk.verdicts.add(rating)
        label = chance.choice(labels)
        Mark.objects.create(verdict=verdict, criterion=label, value=1)
        talk.labels.add(label.pk)


def draw(world: World) -> dict[str, str]:
    """One to four filters with values."""
    names = world.chance.sample(sorted(MEANINGS), world.chance.choice([1, 2, 2, 2, 3, 4]))
    return {name: world.chance.choice(world.values[name]) for name in names}


def counted(world: World, given: Mapping[str, str]) -> list[int]:
    """The ids of the conversations that are meant, newest first."""
    found = [
        talk.row
        for talk in world.talks
        if all(MEANINGS[name](talk, text) for name, text in given.items())
        and ("playground" in given or not talk.row.principal.startswith("playground:"))
    ]
    return [row.pk for row in sorted(found, key=lambda row: (row.last_at, row.pk), reverse=True)]


def listed(given: Mapping[str, str]) -> list[int]:
    """The ids of all pages of the list, there and back."""
    rows = ConversationList(Conversation.objects.all(), given)
    ids: list[int] = []
    after, keys = None, []
    while True:
        page = rows.read_page(size=PAGE, after=after)
        ids += [row.pk for row in page.rows]
        if page.rows:
            keys.append(RowKey.of(page.rows[0]))
        if not page.has_next:
            break
        after = RowKey.of(page.rows[-1])
    for place, key in enumerate(keys[1:]):
        back = rows.read_page(size=PAGE, before=key)
        assert [row.pk for row in back.rows] == ids[place * PAGE : (place + 1) * PAGE]
        assert back.has_next
    oldest = ConversationList(Conversation.objects.all(), {**given, "sort": "oldest"})
    assert [row.pk for row in oldest.read_page(size=TALKS).rows] == ids[::-1]
    return ids


def exported(given: Mapping[str, str]) -> list[int]:
    """The ids of what an export of the same has."""
    selection = read_selection(urlencode(given))
    ids: list[int] = []
    below = 2**62
    while (window := next_window(selection, below)) is not None:
        found, below = window
        ids += found
    return sorted(ids)


@pytest.fixture(params=[0, pytest.param(5_000, marks=pytest.mark.database)])
def _limit(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Common and rare values of runs are found in different ways."""
    monkeypatch.setattr(filter_conditions, "MAX_LISTED_RUNS", request.param)


@pytest.mark.usefixtures("_limit")
@pytest.mark.parametrize(
    ("seed", "draws"),
    [(0, 8), *(pytest.param(seed, 40, marks=pytest.mark.nightly) for seed in range(4))],
)
def test_any_filters_list_and_export_what_a_full_count_finds(seed: int, draws: int):
    world = makes(random.Random(seed))
    wrong = []
    for _ in range(draws):
        given = draw(world)
        expected = counted(world, given)
        found = listed(given)
        if found != expected:
            wrong.append((given, len(found), len(expected), sorted(set(found) ^ set(expected))[:5]))
        if exported(given) != sorted(expected):
            wrong.append((given, "export", len(exported(given)), len(expected)))
    assert wrong == []


@pytest.mark.parametrize("text", ["", "x", "1", "x-1", "1-x", f"{10**30}-1", "1-" + "9" * 50])
def test_a_broken_position_is_ignored(text: str):
    assert RowKey.parse(text) is None


def test_neighbours_follow_the_filters_and_stay_visible():
    world = makes(random.Random(1))
    visible = Conversation.objects.filter(copilot__slug="desk-0")
    rows = ConversationList(visible, {"playground": "with"})
    ids = [row.pk for row in rows.read_page(size=TALKS).rows]
    assert ids == counted(world, {"copilot": "desk-0", "playground": "with"})
    by_id = Conversation.objects.in_bulk(ids)
    for here, following in zip(ids, [*ids[1:], None], strict=True):
        assert rows.find_neighbour(RowKey.of(by_id[here]), is_next=True) == following
    assert rows.find_neighbour(RowKey.of(by_id[ids[0]]), is_next=False) is None
    assert rows.select_ids() == ids
    assert rows.count(2, seconds=1) == 3
    hidden = Conversation.objects.exclude(copilot__slug="desk-0").first()
    assert hidden is not None
    found = ConversationList(visible, {"q": f"#{hidden.pk}"})
    assert not found.read_page(size=5).rows
    assert found.select_ids() == []
