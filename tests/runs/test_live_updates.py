"""Watching a conversation: who is let in, what is told, and what happens when nobody can be told."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
from channels.layers import get_channel_layer
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import AnonymousUser, Group, Permission, User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.test import Client as Browser
from django.test import override_settings
import pytest

from copilot_admin.accounts.sessions import BEGAN, PROXY, SSO
from copilot_admin.config.roles import Role
from copilot_admin.config.sso import SsoProxy, SsoSettings
from copilot_admin.http.proxy_identity import REMOTE_USER_KEY, RemoteUser
from copilot_admin.models import Conversation, RoleSecurity
from copilot_admin.runs import live_updates
from copilot_admin.runs.live_updates import TurnChange, broadcast, websocket_urlpatterns
from tests.factories import make_user
from tests.polling import HANGS_SECONDS
from tests.transcripts.store.journaling import Client

pytestmark = pytest.mark.django_db(transaction=True)
TRY_AGAIN_LATER, NO_LONGER_ALLOWED = 1013, 1008  # as browsers know them
MEMORY = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}


@pytest.fixture(autouse=True)
def _fresh_layer() -> Iterator[None]:
    """A layer in memory of each test's own: its queues belong to one event loop."""
    with override_settings(CHANNEL_LAYERS=MEMORY):
        yield


@pytest.fixture
def conversation() -> Conversation:
    return Client().ask("Hi?").answer("Hello").conversation


class Socket(WebsocketCommunicator):  # type: ignore[misc]  # channels has no types
    """A client that waits no longer for a consumer that broke."""

    async def receive_output(self, timeout: float = 1) -> Any:  # noqa: ASYNC109  # of its base
        output = asyncio.ensure_future(super().receive_output(timeout))
        await asyncio.wait({output, self.future}, return_when="FIRST_COMPLETED")
        if not output.done() and self.output_queue.empty():
            output.cancel()
            self.future.result()
        return await output


async def socket(user: Any, path: str) -> Socket:
    """That of somebody who has logged in, if it is somebody."""
    browser = Browser()
    if not isinstance(user, AnonymousUser):
        await sync_to_async(browser.force_login)(user)
    communicator = Socket(URLRouter(websocket_urlpatterns), path)
    communicator.scope["session"] = await browser.asession()
    return communicator


@async_to_sync
async def is_let_in(user: Any, path: str) -> bool:
    communicator = await socket(user, path)
    accepted, _ = await communicator.connect(timeout=HANGS_SECONDS)
    layer: Any = get_channel_layer()
    assert bool(layer.groups) is bool(accepted)  # others hear of no change either
    await communicator.disconnect(timeout=HANGS_SECONDS)
    return bool(accepted)


def path_of(conversation: Conversation) -> str:
    return f"/ws/transcripts/{conversation.pk}/"


def make_judge() -> User:
    judge = make_user()
    judge.user_permissions.add(Permission.objects.get(codename="change_conversation"))
    return judge


@pytest.mark.parametrize(
    ("make", "may_watch"),
    [
        (lambda: make_user(Role.REVIEWERS), True),
        (lambda: make_user(Role.BUILDERS), False),
        (lambda: make_user(Role.OPERATORS), False),
        (lambda: make_user(Role.REVIEWERS, is_staff=False), False),
        (lambda: make_user(Role.REVIEWERS, is_active=False), False),
        (make_judge, False),
        (AnonymousUser, False),
    ],
)
def test_only_reviewers_may_watch_and_only_what_exists(conversation, make, may_watch):
    user = make()
    assert is_let_in(user, path_of(conversation)) is may_watch
    assert not is_let_in(user, "/ws/transcripts/999999/")


def test_watchers_are_told_which_turn_changed_and_nothing_else(conversation: Conversation):
    reviewer = make_user(Role.REVIEWERS)

    async def watch() -> list[Any]:
        communicator = await socket(reviewer, path_of(conversation))
        assert (await communicator.connect(timeout=HANGS_SECONDS))[0]
        await communicator.send_to(text_data='{"turn": 1}')  # ignored, as is what is no JSON
        await communicator.send_to(text_data="nonsense")
        await communicator.send_to(bytes_data=b"\x00")
        for kind in TurnChange:
            await broadcast(conversation.pk, turn_id=5, kind=kind)
        await broadcast(conversation.pk + 1, turn_id=6, kind=TurnChange.STARTED)
        told = [await communicator.receive_json_from(timeout=HANGS_SECONDS) for _ in TurnChange]
        assert await communicator.receive_nothing(timeout=0.05)
        await communicator.disconnect(timeout=HANGS_SECONDS)
        return told

    kinds = ("started", "progress", "finished")
    assert async_to_sync(watch)() == [{"turn": 5, "kind": kind} for kind in kinds]


def grow_old(reviewer: User) -> None:
    session = SessionStore(Session.objects.get().pk)
    session[BEGAN] = 0.0
    session.save()


def need_a_second_factor(reviewer: User) -> None:
    group = Group.objects.get(name=Role.REVIEWERS)
    RoleSecurity.objects.create(group=group, requires_second_factor=True)


LOSSES: tuple[Callable[[User], Any], ...] = (
    lambda reviewer: Session.objects.all().delete(),
    lambda reviewer: reviewer.groups.clear(),
    lambda reviewer: User.objects.filter(pk=reviewer.pk).update(is_active=False),
    grow_old,
    need_a_second_factor,
)


@pytest.mark.parametrize("changes", [True, False], ids=["update", "timer"])
@pytest.mark.parametrize("happens", LOSSES)
def test_a_reader_who_lost_the_right_gets_no_update_and_the_page_is_closed(
    conversation: Conversation, happens: Callable[[User], None], changes: bool, monkeypatch: Any
):
    monkeypatch.setattr(live_updates, "CHECK_SECONDS", HANGS_SECONDS if changes else 0.05)
    reviewer = make_user(Role.REVIEWERS)

    async def stay() -> Any:
        communicator = await socket(reviewer, path_of(conversation))
        await communicator.connect(timeout=HANGS_SECONDS)
        await sync_to_async(happens)(reviewer)
        if changes:
            await broadcast(conversation.pk, turn_id=5, kind=TurnChange.PROGRESS)
        ended = await communicator.receive_output(timeout=HANGS_SECONDS)
        await communicator.disconnect(timeout=HANGS_SECONDS)
        return ended

    assert async_to_sync(stay)() == {"type": "websocket.close", "code": NO_LONGER_ALLOWED}


@pytest.mark.parametrize(
    ("remote", "is_let_in"),
    [(RemoteUser("ann", ()), True), (RemoteUser("bob", ()), False), (None, False)],
)
def test_a_socket_of_a_proxy_needs_its_header_and_is_opened_again_now_and_then(
    conversation: Conversation, settings: Any, monkeypatch: Any, remote: Any, is_let_in: bool
):
    settings.SSO = SsoSettings(proxy=SsoProxy(user_header="x-user"))
    monkeypatch.setattr(live_updates, "CHECK_SECONDS", 0.05)
    monkeypatch.setattr(live_updates, "MAX_PROXY_SECONDS", 0.0)
    reviewer = make_user(Role.REVIEWERS)

    async def open_page() -> tuple[bool, Any]:
        communicator = await socket(reviewer, path_of(conversation))
        mark = RemoteUser("ann", ()).mark
        await communicator.scope["session"].aset(SSO, {"source": PROXY, "mark": mark})
        await communicator.scope["session"].asave()
        if remote is not None:
            communicator.scope[REMOTE_USER_KEY] = remote
        accepted, _ = await communicator.connect(timeout=HANGS_SECONDS)
        ended = await communicator.receive_output(timeout=HANGS_SECONDS) if accepted else None
        await communicator.disconnect(timeout=HANGS_SECONDS)
        return bool(accepted), ended

    closed = {"type": "websocket.close", "code": TRY_AGAIN_LATER}
    assert async_to_sync(open_page)() == (is_let_in, closed if is_let_in else None)
