"""Which user asks, over HTTP: from the token or the header to the rows, the model and the client."""

from base64 import b64encode
from collections.abc import Iterator
import json
from typing import Any

import pytest
from pytest_django import DjangoDbBlocker

from copilot_admin.asgi import application
from copilot_admin.config.sso import SsoProxy
from copilot_admin.config.variables import parse_networks
from copilot_admin.copilots.end_users import get_jwks_client
from copilot_admin.copilots.user_tokens import ProxyRules
from copilot_admin.http.proxy_identity import ProxyIdentity
from copilot_admin.limits.rules import LimitSubject
from copilot_admin.models import (
    Access,
    ComponentCall,
    Conversation,
    EndUser,
    Feedback,
    LimitScope,
    Outcome,
    Run,
    Turn,
)
from tests.agent.scripted import ScriptedProvider, text
from tests.docs.test_operations import proxy
from tests.factories import make_key, make_published
from tests.jwt_issuer import KeySetServer, jwk, key_set, rules, token_of
from tests.limits.limiting import limited
from tests.live_server import LiveServer, live_server
from tests.polling import eventually
from tests.wire import Line

pytestmark = pytest.mark.django_db(transaction=True)

QUERY = "/v1/copilots/news/query"
HELLO = {"messages": [{"role": "human", "content": "Hello"}]}
AGAIN = {
    "messages": [
        {"role": "human", "content": "Hello"},
        {"role": "ai", "content": "Hi."},
        {"role": "human", "content": "Again"},
    ]
}
HERE = ProxyRules(
    networks=parse_networks(["127.0.0.0/8"]),
    id_header="x-user-id",
    email_header="x-user-email",
    name_header="x-user-name",
)
ELSEWHERE = parse_networks(["10.0.0.0/8", "2001:db8::/32"])
PROXY = ProxyIdentity(application, remote_user=SsoProxy(), end_user=HERE)


@pytest.fixture(scope="module")
def service(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[LiveServer]:
    """The whole application, at whose door stands a proxy that is trusted."""
    with django_db_blocker.unblock(), live_server(PROXY) as server:
        yield server


@pytest.fixture(autouse=True)
def provider(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[ScriptedProvider]:
    """A published copilot, an issuer whose keys are at hand, and a proxy that is trusted."""
    provider = ScriptedProvider([text("Hi.")] * 12)
    monkeypatch.setattr("copilot_admin.copilots.live.make_provider", lambda spec: provider)
    settings.USER_TOKENS = rules()
    make_published(slug="news", features={"feedback": True})
    yield provider


def ask(url: str, body: Any = HELLO, *, path: str = QUERY, **headers: str) -> tuple[int, Any]:
    """Asks, and gives the status with what is said in words."""
    rows = {name.replace("_", "-"): value for name, value in headers.items()}
    with Line(url + path, body=body, headers=rows) as line:
        told = line.read_all()
        said = None if line.status == 200 else json.loads(told).get("detail")
    assert eventually(lambda: not Run.objects.filter(outcome=Outcome.RUNNING).exists())
    return line.status, said


def bearer(**claims: Any) -> str:
    return f"Bearer {token_of(**claims)}"


def users() -> list[tuple[str, str | None]]:
    """Of each conversation the user, and of each request."""
    return list(
        Run.objects.order_by("started_at").values_list(
            "conversation__user__identifier", "user__identifier"
        )
    )


@pytest.mark.database
def test_the_user_of_a_token_is_kept_with_what_he_asked(service_url):
    token = bearer(name="Ada \u202eL.", email="a@b.example")
    assert ask(service_url, Authorization=token) == (200, None)
    user = EndUser.objects.get()
    assert (user.identifier, user.name, user.email, user.source) == (
        "ada",
        "Ada L.",
        "a@b.example",
        "token",
    )
    assert users() == [("ada", "ada")]


@pytest.mark.parametrize(
    ("token", "said"),
    [
        (lambda: bearer(aud="others"), "it was made for another service"),
        (lambda: bearer(iss="https://evil.example"), "it comes from another issuer"),
        (lambda: bearer(exp=1), "it has expired"),
        (lambda: bearer(kid="evil"), "signed with a key that is not known"),
        (lambda: "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.", "not signed with RS256"),
        (lambda: "Bearer a.b.c", "The token is not a JWT"),
        (lambda: f"{bearer()}\r\nAuthorization: {bearer(sub='eve')}", "cannot"),
    ],
)
def test_a_bad_token_is_refused_in_words_at_every_door(service_url, token, said):
    sent = token()
    feedback = "/v1/copilots/news/feedback"
    for path in (QUERY, feedback):
        status, told = ask(
            service_url, {**HELLO, "vote": "thumbs_up"}, path=path, Authorization=sent
        )
        assert status == 401
        assert said in told or "API key" in told
    with Line(f"{service_url}/agents.json", method="GET", headers={"Authorization": sent}) as line:
        assert line.status == 401
    assert not Run.objects.exists()


def test_a_key_is_still_needed_unless_tokens_open(service_url, settings):
    make_published(slug="closed", access=Access.KEY)
    key, path = make_key()[1], "/v1/copilots/closed/query"
    status, said = ask(service_url, path=path, Authorization=bearer())
    assert (status, "needs an API key" in said) == (401, True)
    assert ask(service_url, path=path, Authorization=bearer(), X_API_Key=key)[0] == 200
    assert ask(service_url, path=path, Authorization=f"Bearer {key}")[0] == 200
    assert ask(service_url, path=path, Authorization=bearer(), X_API_Key="cak_no")[0] == 401
    settings.USER_TOKENS = rules(opens=True)
    assert ask(service_url, path=path, Authorization=bearer())[0] == 200
    assert ask(service_url, path=path, X_User_Id="ada")[0] == 401  # a proxy opens nothing
    assert users() == [("ada", "ada"), (None, None), ("ada", "ada")]
    with Line(
        f"{service_url}/agents.json", method="GET", headers={"Authorization": bearer()}
    ) as line:
        assert set(json.loads(line.read_all())) == {"news", "closed"}


def test_a_token_may_come_in_a_header_of_its_own(service_url, settings):
    settings.USER_TOKENS = rules(header="x-user-token")
    with Line(f"{service_url}/agents.json", method="GET") as line:
        assert "x-user-token" in line.headers["vary"]
    make_published(slug="closed", access=Access.KEY)
    key = make_key()[1]
    sent = {"Authorization": f"Bearer {key}", "X_User_Token": token_of()}
    assert ask(service_url, path="/v1/copilots/closed/query", **sent)[0] == 200
    assert ask(service_url, X_User_Token=token_of(sub="eve"), Authorization=bearer())[0] == 200
    assert ask(service_url, X_User_Token="cak_x")[0] == 401
    assert users() == [("ada", "ada"), ("eve", "eve")]


def test_a_named_proxy_says_who_asks_and_a_stranger_does_not(service_url, monkeypatch):
    sent = {"X_User_Id": "李", "X_User_Name": "李 \u202eX", "X_User_Email": "l@b.example"}
    assert ask(service_url, **sent)[0] == 200
    assert str(EndUser.objects.get()) == "李 X"
    monkeypatch.setattr(PROXY, "end_user", HERE.model_copy(update={"networks": ELSEWHERE}))
    for forwarded in ("10.0.0.7", "2001:db8::7", "127.0.0.1, 10.0.0.7"):
        assert ask(service_url, **sent, X_Forwarded_For=forwarded)[0] == 200
    assert users() == [("李", "李"), *[(None, None)] * 3]


@pytest.mark.nginx
def test_through_the_documented_nginx_nobody_names_himself(service_url, tmp_path):
    sent = {"X_User_Id": "eve", "X_User_Name": "Eve", "X_User_Email": "e@b.example"}
    with proxy(tmp_path, upstream=service_url) as url:
        assert ask(url, **sent)[0] == 200
        ten_kilobytes = bearer(groups=["g" * 100] * 70)
        assert ask(url, **sent, Authorization=ten_kilobytes)[0] == 200
    named = {'X-User-Id "";': "X-User-Id $remote_user;"}  # one that knows who asks
    with proxy(tmp_path, upstream=service_url, changed=named) as url:
        basic = "Basic " + b64encode(b"mia:secret").decode()
        assert ask(url, **sent, Authorization=basic)[0] == 200
    assert users() == [(None, None), ("ada", "ada"), ("mia", "mia")]


@pytest.mark.database
@pytest.mark.parametrize("chat", [{}, {"X_Trace_Id": "chat-1"}])
def test_conversations_of_different_users_never_join(service_url, chat):
    ada, eve = bearer(), bearer(sub="eve")
    for who in ({"Authorization": ada}, {"Authorization": eve}, {}, {"X_User_Id": "mia"}):
        assert ask(service_url, **who, **chat)[0] == 200
    for who in ({}, {"Authorization": ada}, {"X_User_Id": "mia"}):
        assert ask(service_url, AGAIN, **who, **chat)[0] == 200
    found = Conversation.objects.order_by("id").values_list("user__identifier", "n_turns")
    assert list(found) == [("ada", 2), ("eve", 1), (None, 2), ("mia", 2)]


@pytest.mark.database
def test_a_user_judges_his_own_answers_only(service_url):
    ask(service_url, Authorization=bearer(), X_Trace_Id="chat-1")
    judged = {"vote": "thumbs_down", "ai_response": "Hi.", "trace_id": "chat-1"}
    path = "/v1/copilots/news/feedback"
    for who in ({}, {"Authorization": bearer(sub="eve")}, {"X_User_Id": "mia"}):
        assert ask(service_url, judged, path=path, **who, X_Trace_Id="chat-1")[0] == 404
    assert not Feedback.objects.exists()
    assert ask(service_url, judged, path=path, Authorization=bearer())[0] == 200
    assert Feedback.objects.get().turn == Turn.objects.get()


def test_an_issuer_that_is_away_and_comes_back(service_url, settings):
    with KeySetServer().running() as server:
        server.status = 503
        settings.USER_TOKENS = rules(keys=None, jwks_url=server.address)
        get_jwks_client.cache_clear()
        status, said = ask(service_url, Authorization=bearer())
        assert (status, "keys of their issuer can" in said) == (503, True)
        assert ask(service_url)[0] == 200  # who names nobody is not held up
        server.status = 200
        get_jwks_client.cache_clear()  # its patience of some seconds is over
        assert ask(service_url, Authorization=bearer())[0] == 200
        server.body = key_set(jwk("two"))
        assert ask(service_url, Authorization=bearer(kid="two"))[0] == 401  # asked just now
        get_jwks_client.cache_clear()
        assert ask(service_url, Authorization=bearer(kid="two"))[0] == 200
    assert ask(service_url, Authorization=bearer(kid="two"))[0] == 200  # away, and still known
    get_jwks_client.cache_clear()


def test_feedback_and_calls_of_components_are_the_users(service_url):
    key = make_key()[1]
    with limited({LimitSubject(LimitScope.USER, "ada"): {"requests_per_minute": 2}}):
        vote, call = {"vote": "thumbs_up"}, {"parameters": {"expression": "1 + 1"}}
        feedback, calculator = "/v1/copilots/news/feedback", "/v2/components/calculator"
        named = {"X_User_Id": "ada"}
        assert ask(service_url, vote, path=feedback, **named)[0] == 404
        bearer_key = {"Authorization": f"Bearer {key}"}
        assert ask(service_url, call, path=calculator, **named, **bearer_key)[0] == 200
        refused = ask(service_url, vote, path=feedback, **named)
        assert refused[0] == 429 and "2 requests per minute" in refused[1]
        assert ask(service_url, call, path=calculator, **named, **bearer_key)[0] == 429
        assert ask(service_url, call, path=calculator, X_User_Id="eve", **bearer_key)[0] == 200
    assert eventually(lambda: ComponentCall.objects.count() == 2)
    calls = ComponentCall.objects.order_by("pk").values_list("user__identifier", flat=True)
    assert list(calls) == ["ada", "eve"]
