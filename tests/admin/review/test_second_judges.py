"""Whatever the first of two judges said, every page is the same for the second, until he has judged."""

from collections.abc import Iterator
from html import unescape
import re
from typing import Any

from django.apps import apps
from django.contrib.auth.models import User
from django.core.management.color import no_style
from django.db import connection, transaction
from django.test import Client as Browser
import pytest

from copilot_admin.config.roles import create_roles
from copilot_admin.models import (
    AuditEntry,
    Conversation,
    Criterion,
    CriterionKind,
    ReviewQueue,
    Turn,
)
from copilot_admin.review.queues import make_queue
from tests.factories import make_saved, make_user, make_version
from tests.transcripts.store.journaling import Client

pytestmark = pytest.mark.django_db

ADMIN = "/admin/copilot_admin"
CHANGING = re.compile(
    r'csrfmiddlewaretoken" value="\w+"|[0-9a-f]{16,}|\d\d:\d\d(:\d\d)?(\.\d+)?|\d+ (second|minute)s?'
)
# Not the forms of builders: what a provider offers stays in memory once it was asked.
LINK = re.compile(r'href="(/admin/(?!copilot_admin/copilot/\d+/change/)[^"#]*)')
# Not followed: they leave, or begin something.
LEAVING = ("logout", "jsi18n", "password_change", "/static/")


@pytest.fixture
def talk() -> Conversation:
    version = make_version()
    make_saved(version.copilot)
    return Client(version=version).ask("Why?").answer("So.").conversation


def say(first: Browser, talk: Conversation, *, much: bool) -> None:
    """The first judge says something: of the whole, of the question, and in its margin."""
    turn, (label, score) = Turn.objects.get(), Criterion.objects.order_by("name")
    page = f"{ADMIN}/conversation/{talk.pk}"
    sent = {"rating": "good", "comment": ""}
    if much:
        sent = {"rating": "bad", "comment": "First words", f"criterion_{score.pk}": "4"}
        sent[f"criterion_{label.pk}"] = "on"
    queue = ReviewQueue.objects.get().pk
    assert first.post(f"{ADMIN}/reviewqueue/{queue}/next/").status_code == 302
    for address in ("judge/", f"turns/{turn.pk}/verdict/"):
        assert first.post(f"{page}/{address}", {**sent, "queue": queue}).status_code == 302
    words = "Wrong again" if much else "Fine"
    assert first.post(f"{page}/turns/{turn.pk}/notes/", {"text": words}).status_code == 302


def pages_of(talk: Conversation) -> Iterator[str]:
    """Every kind of page that tells of conversations, figures, queues, and of what was done."""
    label = Criterion.objects.get(kind=CriterionKind.LABEL).pk
    queue, turn = ReviewQueue.objects.get().pk, Turn.objects.get().pk
    yield from ("", "running/", "figures/?days=30", "figures/running/?days=30")
    tables = ("liked", "labels", "versions", "models")
    yield from (f"figures/?days=30&format=csv&table={key}" for key in tables)
    own = "copilot_admin/conversation/"
    yield from (
        own,
        f"{own}?label={label}",
        f"{own}?state=in_review",
        f"{own}learn/?chosen={talk.pk}",
    )
    pages = ("change/", f"turns/{turn}/", f"turns/{turn}/verdict/", "history/")
    yield from (f"{own}{talk.pk}/{page}" for page in pages)
    yield from ("copilot_admin/criterion/", f"copilot_admin/criterion/{label}/change/")
    yield from ("copilot_admin/reviewqueue/", f"copilot_admin/reviewqueue/{queue}/change/")
    yield from ("copilot_admin/auditentry/", "copilot_admin/auditentry/file/?format=csv")
    for entry in AuditEntry.objects.exclude(subject_kind="conversation").order_by("-pk")[:4]:
        yield f"copilot_admin/auditentry/{entry.pk}/change/"


def walked(second: Browser, start: Iterator[str], *, most: int) -> dict[str, str]:
    """What pages say, and those to which they lead."""
    waiting = [f"/admin/{page}" for page in start]
    found: dict[str, str] = {}
    for address in waiting:
        if address in found or len(found) >= most:
            continue
        answer: Any = second.get(address)
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        text = body.decode(errors="replace")
        found[address] = f"{answer.status_code} {CHANGING.sub('~', text)}"
        further = (unescape(one) for one in LINK.findall(text))
        waiting += [one for one in further if not any(part in one for part in LEAVING)]
    return found


def seen_after(talk: Conversation, *, much: bool, most: int) -> dict[str, str]:
    """What pages say to the second judge; of the first one nothing is left, nor of the ids that were given."""
    first, second = Browser(), Browser()
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), apps.get_models()):
            cursor.execute(statement)
    with transaction.atomic():
        first.force_login(User.objects.get(username="first"))
        second.force_login(User.objects.get(username="second"))
        say(first, talk, much=much)
        found = walked(second, pages_of(talk), most=most)
        transaction.set_rollback(True)
    return found


@pytest.mark.nightly  # by day test_judging.py reads the page of a conversation
@pytest.mark.parametrize("most", [26, pytest.param(600, marks=pytest.mark.nightly)])
def test_no_page_of_the_second_judge_differs_by_what_the_first_said(talk, most):
    # A second: every kind of page, twice. By night all pages to which they lead, too.
    create_roles()
    for name in ("first", "second"):
        make_user(username=name, is_superuser=True)
    Criterion.objects.create(name="A wrong number")
    Criterion.objects.create(name="Depth", kind=CriterionKind.SCORE)
    make_queue(ReviewQueue(name="Week", judges=2), [talk.pk])
    little = seen_after(talk, much=False, most=most)
    much = seen_after(talk, much=True, most=most)
    differing = {page for page, text in much.items() if little.get(page) != text}
    assert differing == set()
    answers = [text[:3] for text in much.values()]
    assert [one for one in answers if one >= "500"] == []
    assert answers[:20] == ["200"] * 20
