"""Five hundred hostile texts in every place of the review that shows them; without the policy nothing runs."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Browser, Dialog
import pytest

from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.models import (
    Action,
    Alert,
    AlertDelivery,
    AuditEntry,
    Conversation,
    Copilot,
    Criterion,
    ErrorUsage,
    HourlyUsage,
    LegalHold,
    Mark,
    Rating,
    ReviewQueue,
    SavedView,
    TargetKind,
    TestCase,
    TranscriptExport,
    TurnNote,
    Verdict,
)
from copilot_admin.models.audit import ActorKind
from copilot_admin.review.queues import add_to_queue
from tests.alerts.alerting import make_rule, thumb
from tests.browser.visits import Visit, visit
from tests.factories import make_case, make_copilot, make_result, make_user, make_version
from tests.rendering.hostile_texts import PAYLOADS
from tests.transcripts.exports.exporting import begun, text_of, written
from tests.transcripts.store.journaling import Client

pytestmark = [
    pytest.mark.browser,
    pytest.mark.nightly,
    pytest.mark.django_db(transaction=True),
]
ROOM = "/admin/copilot_admin/"
# What a text would have to leave, for it to be more than a text: 57 texts in 9 ways.
BEGINNINGS = ("", "alert ", '">', "'>", "</td></a>", "-->", "</textarea></title>", "{{", "\\'\\\">")


def text_page(texts: Sequence[str]) -> Copilot:
    """A copilot whose users, reviewers and builders said nothing else."""
    copilot = make_copilot(name=texts[0][:80])
    version, author = make_version(copilot), make_user()
    for place, text in enumerate(texts):
        user = AskingUser(id=f"{place} {text}"[:200], name=text[:100])
        caller = Client(version=version, trace_id=f"t-{place}", user=user, now=timezone.now())
        asked = caller.ask(text).answer(text)
        thumb(asked, text, tags=(text,))
        turn = asked.run.turn
        assert turn is not None
        TurnNote.objects.create(turn=turn, author=author, text=text)
        verdict = Verdict.objects.create(
            conversation=asked.conversation, turn=turn, author=author, rating=Rating.BAD, comment=text
        )  # fmt: skip
        name = f"{place} {text}"[:60]
        criterion = Criterion.objects.create(name=name, help=text[:100])
        Mark.objects.create(verdict=verdict, criterion=criterion, value=1)
    LegalHold.objects.create(
        conversation_row=asked.conversation, reason=text[:200], placed_by_name=text[:150]
    )
    return copilot


def team(texts: Sequence[str], owner: User) -> None:
    """Views, queues, figures, alerts and entries with these names."""
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    ids = list(Conversation.objects.values_list("pk", flat=True)[:2])
    for place, text in enumerate(texts):
        name = f"{place} {text}"
        SavedView.objects.create(owner=owner, name=name[:60], query="outcome=completed")
        add_to_queue(ReviewQueue.objects.create(name=name[:100], filters=f"q={text}"), ids)
        copilot = make_copilot(name=name[:80])
        usage = {"copilot": copilot, "hour": hour - timedelta(hours=1)}
        HourlyUsage.objects.create(**usage, model=name[:200], runs=3 + place, completed=1)
        ErrorUsage.objects.create(**usage, code=name[:50], number=1)
        alert = Alert.objects.create(
            rule=make_rule(name=name[:100], tag=text[:50]), opened_at=hour,
            sentence=text, query=text,
        )  # fmt: skip
        AlertDelivery.objects.create(
            event="opened", alert=alert, to=text[:200], subject=text[:200], body=text, answer=text
        )
        who = Actor(kind=ActorKind.PERSON, name=text[:150], agent=text[:100])
        of = Subject(kind="copilot", id="1", name=text[:150])
        record(
            Action.CHANGED, by=who, on=of, before={"a": text}, after={"a": f"{text}!", text: "b"}
        )


def learnt(texts: Sequence[str], copilot: Copilot) -> None:
    """Test cases with results on draft and live version."""
    for text in texts:
        case = make_case(copilot, text, label=text[:60], recorded_answer=f"Then {text}")
        outcome = {"assertion": text, "verdict": "failed", "reason": text}
        for target in (TargetKind.DRAFT, TargetKind.LIVE):
            make_result(
                case, "failed", target=target, answer=f"Now {text}", outcomes=[outcome],
                error=text, is_changed=True, cost=Decimal(1),
            )  # fmt: skip


def pages(copilot: Copilot, export: TranscriptExport) -> Iterator[str]:
    """Every page of the review that shows such texts."""
    conversations = list(Conversation.objects.order_by("-pk"))
    yield from (f"{ROOM}conversation/", f"{ROOM}conversation/?q=alert&q=x")
    for query in ("q=alert", "q=evil", "q=%3C", "judged=down", "reason=%22%3E"):
        yield f"{ROOM}conversation/?{query}"
    yield from (f"{ROOM}conversation/{one.pk}/change/?q=alert" for one in conversations[::4])
    for room in ("criterion", "reviewqueue", "alert", "alertrule", "alertdelivery", "auditentry"):
        yield f"{ROOM}{room}/"
    for model in (ReviewQueue, Alert, AlertDelivery):
        for row in list(model.objects.all())[::12]:
            yield f"{ROOM}{model._meta.model_name}/{row.pk}/change/"
    entries = AuditEntry.objects.filter(action=Action.CHANGED, subject_id="1")
    yield from (f"{ROOM}auditentry/{one.pk}/change/" for one in list(entries)[::12])
    yield from ("/admin/analytics/", f"{ROOM}transcriptexport/", "/admin/privacy/", "/admin/")
    yield f"{ROOM}transcriptexport/{export.pk}/change/"
    own = f"{ROOM}copilot/{copilot.pk}/"
    yield f"{own}tests/"
    for pk in TestCase.objects.values_list("pk", flat=True)[:50:12]:
        yield from (f"{own}tests/{pk}/", f"{own}tests/?open={pk}", f"{own}tests/table/?open={pk}")


@pytest.fixture
def ada(browser: Browser, base_url: str) -> Iterator[Visit]:
    """An admin, whose browser has no policy."""
    make_user(username="ada", is_superuser=True)
    person = visit(browser, base_url, bypass_csp=True)
    person.log_in("ada")
    yield person
    person.page.context.close()


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_nothing_runs_and_nothing_is_fetched(ada: Visit, tmp_path: Path, beginning: str):
    texts = [f"{beginning}{one}" for one in PAYLOADS]
    copilot = text_page(texts)
    owner = User.objects.get(username="ada")
    team(texts, owner)
    learnt(texts, copilot)
    export = written(begun("html", owner=owner, with_data=True, q="alert"))
    TranscriptExport.objects.update(words=texts[0])  # as the filters had it
    file = tmp_path / "export.html"
    file.write_text(text_of(export), encoding="utf-8")
    dialogs: list[str] = []
    fetched: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    ada.page.on("dialog", dismiss)
    ada.page.on("request", lambda request: fetched.append(request.url))
    empty: list[str] = []
    refused: list[str] = []
    for path in pages(copilot, export):
        response = ada.page.goto(ada.base_url + path)
        assert response is not None
        if (response.status, response.url) != (200, ada.base_url + path):
            refused.append(f"{response.status} {path} {response.url}")
        ada.page.evaluate(
            "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
        )
        ada.next_frames()
        if "(1)" not in ada.page.locator("body").inner_text():
            empty.append(path)
    ada.page.goto(file.as_uri())
    ada.next_frames()
    assert dialogs == []
    own = (ada.base_url, file.as_uri(), "data:image/svg+xml")
    assert [url for url in fetched if not url.startswith(own)] == []
    assert (refused, empty) == ([], [])
