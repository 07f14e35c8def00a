"""Names and errors that others chose are texts wherever the review shows them; by night a browser looks at more."""

from collections.abc import Iterator
from typing import Any

from django.test import Client as Browser
from django.utils import timezone
import pytest

from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.jobs.removal import begin_erasure
from copilot_admin.models import (
    Alert,
    AlertDelivery,
    Conversation,
    EndUser,
    Outcome,
    Provider,
    Run,
    SavedView,
    SeenKind,
    TranscriptExport,
)
from copilot_admin.privacy.scopes import PrivacyScope
from copilot_admin.transcripts.store.rollups import note_seen
from tests.alerts.alerting import make_rule, make_webhook
from tests.factories import make_key, make_user, make_version, sign_in
from tests.transcripts.exports.exporting import finished
from tests.transcripts.store.journaling import Client, ending

pytestmark = pytest.mark.django_db

TEXT = "\"'><i id=alien>"
ROOM = "copilot_admin/"


@pytest.fixture
def boss() -> Browser:
    """An admin whose own name is one of them: a proxy or a provider of identities named him."""
    person = make_user(username=f"{TEXT}boss", is_superuser=True, first_name=TEXT, last_name=TEXT)
    return sign_in(person)


def rows(boss: Any) -> Iterator[str]:
    """Rows with such a text in every column that others fill, and the pages that show them."""
    key, _ = make_key(TEXT)
    user = AskingUser(id=TEXT, email=TEXT, name=TEXT)
    asked = Client(version=make_version(), principal=f"key:{key.pk}", user=user, trace_id=TEXT)
    failed = ending(Outcome.FAILED, error=TEXT, error_code=TEXT)
    talk = asked.ask("Why?").answer("-", ended=failed).conversation
    names = {"model": TEXT, "provider": TEXT, "finish_reason": TEXT}
    Run.objects.update(**names, params={TEXT: TEXT}, error=TEXT, error_code=TEXT)
    for kind in SeenKind:
        note_seen(kind, [TEXT])
    Provider.objects.update(name=TEXT)
    SavedView.objects.create(owner=boss, name=TEXT, query=f"model={TEXT}", is_shared=True)
    run = Run.objects.get()
    own = f"{ROOM}conversation/"
    yield from (own, f"{own}?model={TEXT}&error={TEXT}&q={TEXT}&user={TEXT}&reason={TEXT}")
    yield from (f"{own}{talk.pk}/change/", f"{own}{talk.pk}/runs/{run.pk}/", f"{own}?q={TEXT}")
    yield from (
        f"{own}{talk.pk}/runs/{run.pk}/curl/",
        f"{own}?copilot={TEXT}&since={TEXT}",
        f"{own}?{TEXT}=1",
    )
    yield from ("analytics/?days=30", f"analytics/?days=30&user={TEXT}", "analytics/running/", "")
    yield from (f"{ROOM}endpointkey/", f"{ROOM}provider/")
    yield from alerts()
    begin_erasure(PrivacyScope(conversation=talk.pk), reason=TEXT)
    export = finished(owner=boss)
    TranscriptExport.objects.update(words=TEXT, error=TEXT, state="failed", format=TEXT[:20])
    yield from (
        "privacy/",
        f"{ROOM}transcriptexport/",
        f"{ROOM}transcriptexport/{export.pk}/change/",
    )


def alerts() -> Iterator[str]:
    """Rules, webhooks and what their receivers replied."""
    webhook, _ = make_webhook()
    webhook.name = TEXT
    webhook.save()
    rule = make_rule(name=TEXT, webhook=webhook, mails=TEXT)
    alert = Alert.objects.create(
        rule=rule, opened_at=timezone.now(), sentence=TEXT, query=f"q={TEXT}"
    )
    delivery = AlertDelivery.objects.create(
        event="opened", alert=alert, to=TEXT, subject=TEXT, body=TEXT, answer=TEXT
    )
    for row in (webhook, rule, alert, delivery):
        name = row._meta.model_name
        yield from (f"{ROOM}{name}/", f"{ROOM}{name}/{row.pk}/change/")


def test_no_name_and_no_reply_is_more_than_a_text(boss: Browser):
    shown = 0
    for page in rows(make_user(is_superuser=True)):
        answer = boss.get(f"/admin/{page}")
        assert (page, answer.status_code) in {(page, 200), (page, 400)}
        html = answer.content.decode()
        assert (page, "<i id=alien" in html or "\"'>" in html) == (page, False)
        shown += "&lt;i id=alien" in html
    assert shown >= 20
    assert (EndUser.objects.count(), Conversation.objects.count()) == (1, 1)
