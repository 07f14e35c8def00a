"""An operator allows the pages of more origins; it acts at once, and no further than it may."""

from collections.abc import Iterator

from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.http.middleware import ALLOWED_ORIGINS
from copilot_admin.models import AllowedOrigin, Copilot
from tests.admin.pages import messages_of
from tests.factories import make_published

pytestmark = pytest.mark.django_db(transaction=True)
MINE = "https://mine.example:8443"


@pytest.fixture(autouse=True)
def _forgotten_afterwards() -> Iterator[None]:
    yield
    AllowedOrigin.objects.all().delete()
    ALLOWED_ORIGINS.refresh()


@pytest.fixture
def copilot(transactional_db: None) -> Copilot:
    return make_published()


def url(name: str, copilot: Copilot) -> str:
    return reverse(f"connect:{name}", args=[copilot.pk])


def test_an_origin_is_allowed_shown_and_taken_away_at_once(operator: Client, copilot: Copilot):
    assert MINE.encode() not in ALLOWED_ORIGINS
    for _again in range(2):
        response = operator.post(url("allow", copilot), {"allowed": f" {MINE}/ "}, follow=True)
        assert MINE in messages_of(response)[0]
        assert MINE in response.content.decode()
    assert MINE.encode() in ALLOWED_ORIGINS
    response = operator.post(url("forbid", copilot), {"origin": MINE}, follow=True)
    assert MINE in messages_of(response)[0]
    assert MINE.encode() not in ALLOWED_ORIGINS
    assert [entry.action_flag for entry in LogEntry.objects.order_by("pk")] == [1, 3]
    assert operator.post(url("forbid", copilot), {"origin": MINE}).status_code == 302


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "mine.example",
        "https://*.example",
        "https://user@mine.example",
        "https://müller.example",
        "https://mine example",
        "null",
        "javascript:alert(1)",
        "https://pro.openbb.co",
        'https://"><script>alert(1)</script>',
    ],
)
def test_what_cannot_be_allowed_is_said_beside_it_and_stays_typed(
    operator: Client, copilot: Copilot, typed: str
):
    response = operator.post(url("allow", copilot), {"allowed": typed})
    assert response.status_code == 400
    assert response.context["wanted"].fault
    assert response.context["wanted"].text == typed
    assert "<script>alert" not in response.content.decode()
    assert not AllowedOrigin.objects.exists()
