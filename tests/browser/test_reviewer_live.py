"""A page that changes while its conversation goes on."""

from collections.abc import Iterator
import json
from typing import Any

from playwright.sync_api import Browser, WebSocketRoute, expect
import pytest
from pytest_django import DjangoDbBlocker

from copilot_admin.asgi import application
from copilot_admin.config.roles import Role
from copilot_admin.http.scope import Receive, Scope, Send
from copilot_admin.models import Conversation
from copilot_admin.runs.live_updates import TurnChange, broadcast
from copilot_admin.transcripts.store.recorder import Recorder
from copilot_admin.transcripts.store.transcript_store import save_checkpoints
from protocol.events import MessageChunk, StatusUpdate
from protocol.sse import decode
from tests.browser.visits import Visit, visiting
from tests.factories import make_published, make_user
from tests.live_server import LiveServer, live_server
from tests.transcripts.store.journaling import Asked, Client, ai

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


async def with_announcements(scope: Scope, receive: Receive, send: Send) -> None:
    """The application, and an address that announces a change from within its event loop."""
    if scope["type"] == "http" and scope["path"].startswith("/tell/"):
        _, _, conversation, turn, kind = scope["path"].split("/")
        await broadcast(int(conversation), turn_id=int(turn), kind=TurnChange(kind))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})
        return
    await application(scope, receive, send)


@pytest.fixture(scope="module")
def service(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[LiveServer]:
    """The service of this module, with that address."""
    with django_db_blocker.unblock(), live_server(with_announcements) as server:
        yield server


@pytest.fixture
def server(service_url: str) -> str:
    make_user(Role.REVIEWERS, username="eve")
    return service_url


@pytest.fixture
def eve(browser: Browser, server: str) -> Iterator[Visit]:
    """A reviewer who has logged in."""
    with visiting(browser, server, "eve") as person:
        yield person


def open_page(person: Visit, asked: Asked) -> None:
    """Opens the page of a conversation and waits until it is told of changes."""
    with person.page.expect_response("**/chat/**"):
        person.go(f"/admin/copilot_admin/conversation/{asked.conversation.pk}/change/")


def tell(person: Visit, asked: Asked, kind: TurnChange = TurnChange.PROGRESS) -> None:
    """Has the server announce a change."""
    accepted = asked.accepted
    path = f"/tell/{accepted.conversation_id}/{accepted.turn_id}/{kind}"
    assert person.page.request.get(person.base_url + path).status == 204


def write(asked: Asked, recorder: Recorder, *outputs: Any) -> None:
    """Streams a piece of an answer into the journal."""
    for output in outputs:
        recorder.add(output, at_ms=10)
    piece = recorder.take_unsaved()
    assert piece is not None
    save_checkpoints({asked.run_id: piece})


def test_a_running_answer_grows_without_disturbing_its_reader(eve: Visit):
    client = Client(trace_id="chat")
    client.ask("One?").answer("First answer. " * 200)
    asked = client.ask("One?", ai("First answer. " * 200), "Two?")
    recorder = Recorder()
    open_page(eve, asked)
    page = eve.page
    turn = page.locator(f"#turn-{asked.accepted.turn_id}")
    expect(turn).to_have_attribute("data-live", "")
    write(
        asked, recorder, StatusUpdate(message="Reading", details=({"a": 1},)), MessageChunk("Hel")
    )
    tell(eve, asked)
    expect(turn.get_by_text("Hel", exact=True)).to_be_visible()
    details = turn.locator("details").first
    details.locator("summary").first.click()
    turn.locator("[data-trace]").focus()

    write(asked, recorder, MessageChunk("lo **world**"))
    tell(eve, asked)
    expect(turn.locator("strong")).to_have_text("world")
    expect(details).to_have_attribute("open", "")
    assert page.evaluate("'trace' in document.activeElement.dataset")

    asked.answer("Hello **world**")
    tell(eve, asked, TurnChange.FINISHED)
    expect(turn).not_to_have_attribute("data-live", "")
    expect(page.locator('#facts [data-outcome="completed"]')).to_be_visible()


def test_the_next_question_of_a_real_client_appears_by_itself(eve: Visit):
    copilot = make_published()
    asked = ask(eve, copilot.slug, [{"role": "human", "content": "Good morning?"}])
    conversation = Conversation.objects.get()
    with eve.page.expect_response("**/chat/**"):
        eve.go(f"/admin/copilot_admin/conversation/{conversation.pk}/change/")
    turns = eve.page.locator("[data-turn]")
    expect(turns).to_have_count(1)
    history = [
        {"role": "human", "content": "Good morning?"},
        {"role": "ai", "content": asked},
        {"role": "human", "content": "And good evening?"},
    ]
    ask(eve, copilot.slug, history)
    expect(turns).to_have_count(2)
    expect(turns.last).to_contain_text("And good evening?")
    expect(turns.last).to_have_attribute("data-state", "done")


def ask(person: Visit, slug: str, messages: list[dict[str, str]]) -> str:
    """What Workspace does; returns the text of the answer."""
    answer = person.page.request.post(
        f"{person.base_url}/v1/copilots/{slug}/query",
        data={"messages": messages},
        headers={"X-Trace-Id": "chat-1"},
    )
    events = decode(answer.body())
    return "".join(json.loads(data)["delta"] for name, data in events if name == MessageChunk.name)


def test_without_a_socket_the_page_polls(eve: Visit):
    def refuse(socket: WebSocketRoute) -> None:
        socket.close(code=1011, reason="no sockets here")

    eve.page.route_web_socket("**/ws/**", refuse)
    asked = Client(trace_id="chat").ask("One?")
    open_page(eve, asked)
    write(asked, Recorder(), MessageChunk("Growing"))
    expect(eve.page.get_by_text("Growing", exact=True)).to_be_visible()
    asked.answer("Grown")
    expect(eve.page.get_by_text("Grown", exact=True)).to_be_visible()
