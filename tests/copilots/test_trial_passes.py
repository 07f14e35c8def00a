"""Passes with which the server asks itself: they open one copilot for a minute, and nothing else."""

from typing import Any

from django.core import signing
from django.test import AsyncClient
import pytest

from copilot_admin.copilots import callers
from copilot_admin.copilots.callers import Caller, identify, new_trial_pass
from copilot_admin.errors import InvalidKey, Unauthorized
from copilot_admin.models import Access, Conversation, Copilot, DailyUsage, Logging, Run
from tests.factories import make_published, make_user
from tests.streams import read

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
HELLO = {"messages": [{"role": "human", "content": "Hello"}]}


def pass_for(copilot: Copilot) -> str:
    return new_trial_pass(user_id=make_user(username="ada").pk, copilot_id=copilot.pk)


def test_a_pass_opens_its_copilot_and_no_other_that_wants_a_key():
    copilot = make_published(access=Access.KEY)
    other = make_published(access=Access.KEY)
    caller = identify(new_trial_pass(user_id=7, copilot_id=copilot.pk))
    assert caller == Caller(principal="playground:7", copilot_ids=frozenset({copilot.pk}))
    assert caller.may_ask(copilot.pk, access=Access.KEY)
    assert not caller.may_ask(other.pk, access=Access.KEY)
    with pytest.raises(Unauthorized):
        caller.check_may_ask(other.pk, access=Access.KEY)


@pytest.mark.parametrize(
    "key",
    [
        "trial_",
        "trial_nonsense",
        "trial_" + signing.dumps([1, 1], salt="another"),
        new_trial_pass(user_id=1, copilot_id=1) + "x",
    ],
    ids=["nothing", "nonsense", "of another salt", "changed"],  # a pass has its moment in it
)
def test_a_forged_pass_is_refused(key: str):
    with pytest.raises(InvalidKey, match="has expired"):
        identify(key)


def test_a_pass_ends_after_a_minute(monkeypatch: pytest.MonkeyPatch):
    key = pass_for(make_published())
    monkeypatch.setattr(callers, "TRIAL_PASS_SECONDS", -1)
    with pytest.raises(InvalidKey, match="has expired"):
        identify(key)


@pytest.mark.parametrize("logging", Logging)
def test_a_question_with_a_pass_is_a_trial_in_no_list_and_no_figure(logging: str):
    copilot = make_published(access=Access.KEY, slug="news", logging=logging)
    key = pass_for(copilot)
    events: Any = read(AsyncClient(), "/v1/copilots/news/query", HELLO, x_api_key=key)
    assert events
    assert Run.objects.get().copilot_version_id == copilot.live_id
    assert Conversation.objects.get().principal.startswith("playground:")
    assert not Conversation.objects.of_callers().exists()
    assert not DailyUsage.objects.exists()
