"""The smallest valid rows; keyword arguments change what a test is about."""

from datetime import datetime
from itertools import count
from typing import Any

from django.contrib.auth.models import Group, User
from django.utils import timezone

from copilot_admin.copilots.other_providers import link_providers
from copilot_admin.copilots.publishing import document_of, publish
from copilot_admin.copilots.questions.order import digest_of_question
from copilot_admin.models import (
    Access,
    AnswerState,
    CallStatus,
    ComponentCall,
    Copilot,
    CopilotVersion,
    EndpointKey,
    Provider,
    SavedAnswer,
    SavedQuestion,
    Side,
)

_numbers = count(1)


def make_provider(**changes: Any) -> Provider:
    """A provider; the demo model unless changed."""
    return Provider.objects.create(
        **{"name": f"Provider {next(_numbers)}", "kind": "rehearsal", **changes}
    )


def make_copilot(**changes: Any) -> Copilot:
    """A draft that everybody may ask once it is published."""
    number = next(_numbers)
    fields = {
        "slug": f"copilot-{number}",
        "name": f"Copilot {number}",
        "model": "rehearsal",
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
    """An endpoint key and its text; for every copilot unless some are given."""
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


def make_saved(
    copilot: Copilot, question: str = "What?", *, answered: Side | None = None, **changes: Any
) -> SavedQuestion:
    """A question that is kept with a copilot, behind those there are; answered by a side if said."""
    position = SavedQuestion.objects.filter(copilot=copilot).count()
    saved = SavedQuestion.objects.create(
        **{
            "copilot": copilot,
            "position": position,
            "question": question,
            "digest": digest_of_question(question, changes.get("body", {})),
            **changes,
        }
    )
    if answered is not None:
        SavedAnswer.objects.create(question=saved, side=answered, state=AnswerState.DONE)
    return saved


def make_user(*groups: str, **changes: Any) -> User:
    """A staff user in these groups; `is_superuser=True` makes an admin."""
    user = User.objects.create_user(
        **{"username": f"user-{next(_numbers)}", "password": "secret", "is_staff": True, **changes}
    )
    user.groups.set([Group.objects.get_or_create(name=name)[0] for name in groups])
    return user
