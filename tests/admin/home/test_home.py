"""The home page: checklist, key figures, tasks, copilots and conversations."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.test import Client
from django.utils import timezone
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import (
    Alert,
    Conversation,
    Copilot,
    DailyTotal,
    ErrorUsage,
    EvaluationResult,
    EvaluationRun,
    ModelPrice,
    Outcome,
    Run,
    RunState,
    TestCase,
)
from tests.alerts.alerting import make_rule
from tests.factories import make_copilot, make_key, make_provider, make_published, make_user

pytestmark = pytest.mark.django_db

HOME = "/admin/"
XSS = "<script>alert(1)</script>"
OTHER_ROLES = {
    Role.BUILDERS: Role.REVIEWERS,
    Role.OPERATORS: Role.PUBLISHERS,
    Role.REVIEWERS: Role.BUILDERS,
}


def sign_in(client: Client, *roles: str, **changes: Any) -> Client:
    client.force_login(make_user(*roles, **changes))
    return client


def converse(copilot: Copilot, **changes: Any) -> Conversation:
    now = timezone.now()
    fields = {"principal": "anonymous", "title": XSS, "first_at": now, "last_at": now, **changes}
    return Conversation.objects.create(copilot=copilot, **fields)


def count(copilot: Copilot, days_ago: int = 0, **numbers: int) -> None:
    day = timezone.now().date() - timedelta(days=days_ago)
    DailyTotal.objects.create(copilot=copilot, day=day, **numbers)


class TestChecklist:
    def test_steps_are_done_one_after_the_other(self, client: Client) -> None:
        user = make_user(is_superuser=True)
        client.force_login(user)

        def done() -> list[str] | None:
            checklist = client.get(HOME).context["checklist"]
            return checklist and [step.key for step in checklist["steps"] if step.is_done]

        make_published(slug="market-brief")  # a sample
        make_published(is_demo=True)
        assert done() == []
        provider = make_provider(kind="openai-compatible", model_ids=["a", "b"])
        assert done() == ["model"]
        copilot = make_copilot(provider=provider)
        assert done() == ["model", "create"]
        now = timezone.now()
        Run.objects.create(
            copilot=copilot, principal=f"playground:{user.pk}", started_at=now, heartbeat_at=now
        )
        assert done() == ["model", "create", "try"]
        published = make_published()
        assert done() == ["model", "create", "try", "publish"]
        checklist = client.get(HOME).context["checklist"]
        assert checklist["steps"][-1].url.endswith(f"/{published.pk}/")
        converse(published, principal="playground:1")
        converse(Copilot.objects.get(is_demo=True))
        assert len(done() or ()) == 4
        converse(published)
        assert done() is None

    def test_open_steps_have_a_button_that_works(self, client: Client) -> None:
        sign_in(client, is_superuser=True)
        make_copilot(name=XSS)
        response = client.get(HOME)
        links = [step.url for step in response.context["checklist"]["steps"] if step.url]
        assert len(links) == 4  # nothing to connect before it is published
        assert all(client.get(url).status_code == 200 for url in links)
        assert XSS not in response.content.decode()

    def test_each_user_can_hide_it(self, client: Client) -> None:
        sign_in(client, is_superuser=True)
        assert client.get(f"{HOME}hide-checklist/").status_code == 405
        assert client.post(f"{HOME}hide-checklist/").status_code == 302
        assert client.post(f"{HOME}hide-checklist/", headers={"HX-Request": "1"}).content == b""
        assert client.get(HOME).context["checklist"] is None
        assert sign_in(client, is_superuser=True).get(HOME).context["checklist"]


class TestCopilots:
    def test_broken_ones_come_first_then_those_that_are_asked_most(self, client: Client) -> None:
        sign_in(client, Role.BUILDERS)
        quiet, used = make_published(name="Quiet"), make_published(name="Used")
        broken = make_published(name="Broken")
        broken.provider.api_key_env = "COPILOT_KEY_NOT_SET"
        broken.provider.save()
        make_copilot(name="Draft")
        count(used, 0, questions=5, up=1, down=3)
        count(used, 6, questions=2)
        count(used, 7, questions=90)
        count(quiet, 1, questions=1, up=1)
        cards = client.get(HOME).context["copilots"].cards
        assert [(card.copilot.name, card.week.questions, card.percent_up) for card in cards] == [
            ("Broken", 0, None),
            ("Used", 7, 25),
            ("Quiet", 1, 100),
            ("Draft", 0, None),
        ]
        assert [card.is_bad for card in cards] == [False, True, False, False]

    def test_queries_do_not_grow(self, client: Client, django_assert_max_num_queries: Any) -> None:
        sign_in(client, is_superuser=True)
        for number in range(12):
            copilot = make_published(name=f"C{number}")
            count(copilot, 0, questions=number)
            converse(copilot, n_down=1)
        with django_assert_max_num_queries(60):
            response = client.get(HOME)
        assert len(response.context["copilots"].cards) == 6
        assert len(response.context["recent"]) == 8


def make_errors() -> None:
    copilot = make_published()
    count(copilot, 1, errors=3)
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    ErrorUsage.objects.create(hour=hour, copilot=copilot, code="ProviderBusy", number=3)


def change_draft() -> None:
    copilot = make_published()
    copilot.description = "New"
    copilot.save()


def fail_test() -> None:
    copilot, now = make_published(), timezone.now()
    case = TestCase.objects.create(copilot=copilot, position=1, question="Why?")
    for state, verdict in (
        (RunState.DONE, "passed"),
        (RunState.DONE, "failed"),
        (RunState.RUNNING, "passed"),
    ):
        run = EvaluationRun.objects.create(
            copilot=copilot, target="draft", state=state, heartbeat_at=now
        )
        EvaluationResult.objects.create(run=run, case=case, state="done", verdict=verdict)


TASKS: dict[str, tuple[Callable[[], object], tuple[Role, ...]]] = {
    "alerts": (
        lambda: Alert.objects.create(rule=make_rule(), opened_at=timezone.now(), sentence=XSS),
        (Role.OPERATORS,),
    ),
    "broken": (
        lambda: make_published(provider=make_provider(api_key_env="COPILOT_KEY_NOT_SET")),
        (Role.BUILDERS,),
    ),
    "provider-keys": (lambda: make_provider(api_key_env="COPILOT_KEY_NOT_SET"), (Role.OPERATORS,)),
    "errors": (make_errors, (Role.BUILDERS, Role.REVIEWERS)),
    "thumbs-down": (lambda: converse(make_published(), n_down=1), (Role.REVIEWERS,)),
    "expiring-keys": (
        lambda: make_key("Desk", expires_at=timezone.now() + timedelta(days=13)),
        (Role.OPERATORS,),
    ),
    "tests": (fail_test, (Role.BUILDERS,)),
    "changes": (change_draft, (Role.BUILDERS,)),
    "prices": (lambda: (make_published(), ModelPrice.objects.all().delete()), (Role.OPERATORS,)),
}


@pytest.mark.parametrize("key", TASKS)
def test_tasks_are_shown_to_those_who_may_act(client: Client, key: str) -> None:
    create, roles = TASKS[key]
    create()
    sign_in(client, *roles)
    response = client.get(HOME)
    task = next(task for task in response.context["tasks"] if task.key == key)
    assert client.get(task.url).status_code == 200
    page = response.content.decode()
    assert f'data-task="{key}"' in page
    assert XSS not in page
    other = sign_in(client, OTHER_ROLES[roles[0]]).get(HOME).context["tasks"]
    assert key not in [task.key for task in other]


@pytest.mark.parametrize(
    ("roles", "is_superuser", "parts"),
    [
        ((), True, {"copilots", "report", "recent"}),
        ((Role.REVIEWERS,), False, {"report", "recent"}),
        ((Role.BUILDERS,), False, {"copilots"}),
        ((), False, set()),
    ],
)
def test_parts_by_role(
    client: Client, roles: tuple[str, ...], is_superuser: bool, parts: set[str]
) -> None:
    copilot = make_published(name=XSS)
    converse(copilot, n_up=1, last_outcome=Outcome.FAILED)
    converse(copilot, principal="playground:1", title="Tried")
    count(copilot, 0, questions=3, runs=3)
    response = sign_in(client, *roles, is_superuser=is_superuser).get(HOME)
    context = response.context
    assert {name for name in ("copilots", "report", "recent") if context[name]} == parts
    assert len(context["recent"]) == int("recent" in parts)
    page = response.content.decode()
    assert XSS not in page
    assert " style=" not in page
    assert ("data-metric" in page) is ("report" in parts)
