"""The smallest valid rows; keyword arguments change what a test is about."""

from datetime import datetime
from itertools import count
from typing import Any

from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from copilot_admin.copilots.other_providers import link_providers
from copilot_admin.copilots.publishing import document_of, publish
from copilot_admin.copilots.test_cases import fill_case
from copilot_admin.evaluation.targets import make_run
from copilot_admin.models import (
    Access,
    CallStatus,
    ComponentCall,
    Copilot,
    CopilotVersion,
    EndpointKey,
    EvaluationResult,
    Provider,
    ResultState,
    RunState,
    TargetKind,
    TestCase,
)

_numbers = count(1)


def make_provider(**changes: Any) -> Provider:
    """A provider; the demo model unless changed."""
    return Provider.objects.create(
        **{"name": f"Provider {next(_numbers)}", "kind": "demo", **changes}
    )


def make_copilot(**changes: Any) -> Copilot:
    """A draft that everybody may ask once it is published."""
    number = next(_numbers)
    fields = {
        "slug": f"copilot-{number}",
        "name": f"Copilot {number}",
        "model": "demo",
        "access": Access.OPEN,
        **changes,
    }
    if "provider" not in fields:
        fields["provider"] = make_provider()
    return Copilot.objects.create(**fields)


def make_version(copilot: Copilot | None = None, **changes: Any) -> CopilotVersion:
    """A published version of a copilot; of a new one, unless one is given."""
    if copilot is None:
        return _first_version(make_copilot(**changes))
    version = publish(copilot, user=None)
    assert version is not None
    return version


def _first_version(copilot: Copilot) -> CopilotVersion:
    """What `publish` makes of a draft without problems; to look for them takes longer than all of it."""
    version = CopilotVersion.objects.create(
        copilot=copilot, number=1, document=document_of(copilot), provider=copilot.provider
    )
    link_providers(version)
    copilot.live = version
    copilot.save(update_fields=["live"])
    return version


def make_published(**changes: Any) -> Copilot:
    """A copilot that answers."""
    return make_version(**changes).copilot


def make_key(
    name: str = "Desk", *, copilots: tuple[Copilot, ...] = (), expires_at: datetime | None = None
) -> tuple[EndpointKey, str]:
    """An API key and its text; for every copilot unless some are given."""
    key, text = EndpointKey.issue(name, expires_at=expires_at)
    key.limit_to(copilots)
    return key, text


def make_call(**changes: Any) -> ComponentCall:
    """The record of a call of a component that went well."""
    return ComponentCall.objects.create(
        **{
            "component": "calculator",
            "version": "v1",
            "action": "tool_eval",
            "trace_id": "t-1",
            "request_id": "r-1",
            "arguments": {"expression": "2 + 2"},
            "status": CallStatus.DONE,
            "events": 1,
            "ms": 12,
            "created_at": timezone.now(),
            **changes,
        }
    )


def make_case(copilot: Copilot, question: str = "What?", **changes: Any) -> TestCase:
    """A test case of a copilot, after the others; `expect` is one assertion."""
    expect = changes.pop("expect", None)
    case = TestCase(copilot=copilot, position=TestCase.objects.filter(copilot=copilot).count())
    fill_case(case, {"question": question, **changes.pop("test_data", {}), "expect": expect})
    for name, value in changes.items():
        setattr(case, name, value)
    case.save()
    return case


def make_result(case: TestCase, verdict: str = "passed", **changes: Any) -> EvaluationResult:
    """A result of a test case, in a finished run of its own on the draft."""
    run = make_run(case.copilot, changes.pop("target", TargetKind.DRAFT))
    run.state, run.heartbeat_at, run.finished_at = RunState.DONE, timezone.now(), timezone.now()
    run.save()
    values = {"state": ResultState.DONE, "verdict": verdict, "finished_at": timezone.now()}
    return EvaluationResult.objects.create(run=run, case=case, **(values | changes))


def make_user(*groups: str, **changes: Any) -> User:
    """A staff user in these groups; `is_superuser=True` makes an admin."""
    user = User.objects.create_user(
        **{"username": f"user-{next(_numbers)}", "password": "secret", "is_staff": True, **changes}
    )
    user.groups.set([Group.objects.get_or_create(name=name)[0] for name in groups])
    return user


def sign_in(user: User, **options: Any) -> Client:
    """A browser in which somebody is signed in."""
    client = Client(**options)
    client.force_login(user)
    return client
