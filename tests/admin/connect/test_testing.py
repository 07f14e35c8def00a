"""The test of a connection against the whole application behind a real socket."""

from collections.abc import Iterator
from typing import Any

from django.test import Client, override_settings
from django.urls import reverse
import pytest

from copilot_admin.connection_test.steps import StepName
from copilot_admin.connection_test.values import StepResult, StepVerdict
from copilot_admin.models import Access, Conversation, Copilot, DailyUsage, EndpointKey, Run
from tests.agent.scripted import ScriptedProvider, text
from tests.connection_test.test_client import says
from tests.factories import make_key, make_published
from tests.http_stub import http_stub

pytestmark = pytest.mark.django_db(transaction=True)
QUESTIONS = (StepName.THREE, StepName.TWO, StepName.ONE)
# On the loopback every address is one that only this machine reaches.
HERE = {StepName.ADDRESS: StepVerdict.WARN}


@pytest.fixture
def public(service_url: str) -> Iterator[str]:
    """The address of the service, as its operator set it."""
    with override_settings(PUBLIC_URL=service_url):
        yield service_url


def test_page(client: Client, copilot: Copilot, **fields: str) -> Any:
    return client.post(reverse("connect:test", args=[copilot.pk]), fields)


test_page.__test__ = False  # type: ignore[attr-defined]  # it is what tests do


def results(client: Client, copilot: Copilot, **fields: str) -> dict[StepName, StepResult]:
    """How all steps end when the button is pressed without JavaScript."""
    response = test_page(client, copilot, **fields)
    assert response.status_code == 200
    return {row["name"]: row["result"] for row in response.context["rows"]}


def html_of(client: Client, copilot: Copilot, **extra: str) -> str:
    """The results as htmx gets them."""
    url = reverse("connect:test", args=[copilot.pk])
    response = client.post(url, headers={"HX-Request": "true"}, **extra)
    assert response.status_code == 200
    return response.content.decode()


def faults(found: dict[StepName, StepResult]) -> dict[StepName, StepVerdict]:
    return {name: result.verdict for name, result in found.items() if result.verdict != "good"}


@pytest.mark.parametrize("access", Access)
def test_all_is_well_with_a_copilot_that_is_live(builder: Client, public: str, access: str):
    copilot = make_published(access=access, slug="news")
    make_key()
    found = results(builder, copilot)
    assert faults(found) == HERE
    assert list(found) == list(StepName)
    assert {run.generation for run in Run.objects.all()} == {1, 2, 3}


def test_what_is_asked_is_in_no_list_and_no_figure_and_makes_no_key(builder: Client, public: str):
    copilot = make_published(access=Access.KEY)
    before = EndpointKey.objects.count()
    found = results(builder, copilot)
    assert {found[name].verdict for name in QUESTIONS} == {StepVerdict.GOOD}
    assert Run.objects.count() == 3
    assert not Conversation.objects.of_callers().exists()
    assert not DailyUsage.objects.exists()
    assert EndpointKey.objects.count() == before


def test_a_proxy_that_names_another_host_is_found(builder: Client, public: str):
    copilot = make_published()
    with override_settings(ALLOWED_HOSTS=["testserver"]):
        found = results(builder, copilot)[StepName.AGENTS]
    assert found.workspace == "Unknown error occurred while validating URL."
    assert "ALLOWED_HOSTS" in found.details[0]


def test_without_a_key_nobody_can_ask(builder: Client, public: str):
    copilot = make_published(access=Access.KEY)
    make_key(copilots=(make_published(),))
    found = results(builder, copilot)
    assert faults(found) == {**HERE, StepName.KEY: StepVerdict.BAD}


def test_a_page_that_is_not_allowed_is_named_with_the_line_that_allows_it(
    builder: Client, public: str
):
    copilot = make_published()
    response = test_page(builder, copilot, origin=" https://mine.example/ ")
    found = {row["name"]: row["result"] for row in response.context["rows"]}
    assert faults(found) == {**HERE, StepName.ORIGINS: StepVerdict.BAD}
    assert found[StepName.ORIGINS].details[0].startswith("https://mine.example:")
    assert response.context["cors_line"].endswith("http://localhost:8080,https://mine.example")


@pytest.mark.parametrize(
    "origin",
    [
        *("mine.example", "https://["),
        *(
            pytest.param(one, marks=pytest.mark.nightly)
            for one in ("https://*.example", "https://a/b")
        ),
    ],
)
def test_what_is_no_origin_is_said_beside_it(builder: Client, public: str, origin: str):
    response = test_page(builder, make_published(), origin=origin)
    assert response.context["origin"].fault
    assert response.context["cors_line"].endswith(",https://workspace.example.com")
    assert response.context["counts"]["bad"] == 0


def test_what_a_model_says_is_shown_as_text(
    builder: Client, public: str, monkeypatch: pytest.MonkeyPatch
):
    provider = ScriptedProvider([text("1 < 2 & 3: <script>alert(1)</script>")] * 3)
    monkeypatch.setattr("copilot_admin.copilots.live.make_provider", lambda spec: provider)
    html = html_of(builder, make_published())
    assert "1 &lt; 2 &amp; 3" in html
    assert "<script" not in html


def test_an_address_that_leads_elsewhere_is_not_followed(builder: Client, db: None):
    copilot = make_published()
    with (
        http_stub(says(b"", 301, Location="http://169.254.169.254/")) as base,
        override_settings(PUBLIC_URL=base),
    ):
        found = results(builder, copilot)
    assert "http://169.254.169.254/" in found[StepName.ADDRESS].sentence
    assert not Run.objects.exists()


def test_a_port_of_this_machine_that_is_not_the_servers_is_not_asked(builder: Client, db: None):
    copilot = make_published()
    asked: list[str] = []
    with http_stub(lambda request: asked.append(request.path)) as base:
        host = base.removeprefix("http://")
        html = html_of(builder, copilot, HTTP_HOST=host)
    assert 'data-step="address" data-verdict="bad"' in html
    assert asked == []
