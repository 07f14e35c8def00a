"""Where too many wrong keys came from, only keys that are known to be good are looked at."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
import json
from threading import Event
from typing import Any

from asgiref.sync import async_to_sync
from django.test import RequestFactory, override_settings
import pytest

from copilot_admin.api import discovery
from copilot_admin.asgi import application
from copilot_admin.copilots import callers
from copilot_admin.copilots.callers import identify
from copilot_admin.copilots.seen_keys import SEEN_KEYS
from copilot_admin.copilots.trial_passes import new_trial_pass
from copilot_admin.errors import TooManyFailedAttempts
from copilot_admin.http.guesses import GUESSES, MOST_GUESSES
from copilot_admin.http.ids import RequestIds
from copilot_admin.http.slowed_guesses import SlowedGuesses
from copilot_admin.models.access import digest_of
from copilot_admin.storage.writer import READER
from copilot_admin.telemetry import watchers
from tests.factories import make_key
from tests.http.asgi_client import Answer, call, scope
from tests.http.test_edge import echo
from tests.jwt_issuer import rules, token_of
from tests.polling import eventually
from tests.wire import Line

QUERY = "/v1/copilots/news/query"
APP = RequestIds(SlowedGuesses(echo))
GUESSER, OTHER = ("192.0.2.1", 5), ("192.0.2.2", 5)
ORIGIN = "https://pro.openbb.co"
PLACES = [
    ("POST", QUERY),
    ("POST", "/v1/copilots/news/feedback"),
    ("GET", "/agents.json"),
    ("GET", "/copilots.json"),
    ("GET", "/v2/components"),
    ("GET", "/v2/components/calculator"),
    ("POST", "/v2/components/calculator/run"),
]


def guess(times: int = MOST_GUESSES, address: str = GUESSER[0]) -> None:
    for _ in range(times):
        GUESSES.count(address)


def send(key: str = "cak_guess", path: str = QUERY, **about: Any) -> Answer:
    asked = {"method": "POST", "client": GUESSER, "headers": {"X-API-Key": key}, **about}
    return call(APP, scope(path, **asked), body=[b"read"])


@pytest.mark.parametrize(("method", "path"), PLACES)
def test_a_guess_is_refused_at_every_address_of_the_api(method, path):
    guess()
    answer = send(path=path, method=method)
    assert (answer.status, answer.header("cache-control")) == (429, "no-store")
    assert 0 < int(answer.header("retry-after") or "") <= 60
    body = json.loads(answer.body)
    assert body["code"] == "too-many-guesses"
    assert (body.get("detail") or body["message"]) == (
        "Too many wrong endpoint keys came from this address. Wait a minute, and send a key that "
        "works."
    )


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer cak_guess"},
        {"Authorization": "bearer  cak_guess"},
        {"Authorization": "Bearer cak_guess", "X-API-Key": "cak_good"},
        {"X-API-Key": "cak_guess"},
        {"X-API-Key": ""},
        {"X-API-Key": "cak_\xfc"},
    ],
)
def test_a_guess_is_seen_wherever_a_key_is_read(headers):
    SEEN_KEYS.note("cak_good")
    guess()
    assert send(headers=headers).status == 429


def test_a_key_that_comes_twice_is_the_one_that_django_reads():
    SEEN_KEYS.note("cak_good")
    guess()
    twice = scope(QUERY, method="POST", client=GUESSER)
    twice["headers"] = [(b"x-api-key", b"cak_good"), (b"x-api-key", b"cak_guess")]
    assert call(APP, twice).status == 429


def test_until_then_and_from_elsewhere_guesses_are_looked_up():
    guess(MOST_GUESSES - 1)
    assert send().status == 200
    guess(1)
    assert (send().status, send(client=OTHER).status) == (429, 200)


def test_the_addresses_of_one_ipv6_network_are_one_guesser():
    guess(address="2001:db8::1")
    assert send(client=("2001:db8::2", 5)).status == 429
    assert send(client=("2001:db8:0:1::2", 5)).status == 200


def test_who_brings_a_key_that_was_good_none_or_a_trial_pass_is_let_through():
    SEEN_KEYS.note("cak_good")
    guess()
    assert send("cak_good").body == b"read"
    assert send(headers={}).body == b"read"
    assert send(new_trial_pass(user_id=1, copilot_id=1)).body == b"read"


def test_a_token_of_a_user_is_no_guess():
    guess()
    token = {"Authorization": f"Bearer {token_of()}"}
    with override_settings(USER_TOKENS=rules()):
        assert send(headers=token).status == 200
    assert send(headers=token).status == 429


@pytest.mark.parametrize("path", ["/admin/", "/healthz", "/readyz", "/metrics"])
def test_other_pages_know_no_keys(path):
    guess()
    assert send(path=path, method="GET").status == 200


def test_a_question_that_is_refused_is_told_to_those_who_watch(monkeypatch):
    told: list[Any] = []
    monkeypatch.setattr(watchers, "WATCHERS", [told.append])
    guess()
    send()
    send(path="/v1/copilots/news/feedback")
    assert [(one.error_code, one.copilot) for one in told] == [("too-many-guesses", "")]


def test_a_browser_of_another_origin_may_read_the_refusal():
    guess()
    headers = {"Origin": ORIGIN, "X-API-Key": "cak_guess"}
    answer = call(application, scope(QUERY, method="POST", client=GUESSER, headers=headers))
    assert (answer.status, answer.header("access-control-allow-origin")) == (429, ORIGIN)


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The keys that are hashed, which is done where they are looked up and nowhere else."""
    keys: list[str] = []

    def noted(key: str) -> str:
        keys.append(key)
        return digest_of(key)

    monkeypatch.setattr(callers, "digest_of", noted)
    yield keys


def status_of(url: str, key: str, method: str = "POST", path: str = QUERY) -> int:
    with Line(url + path, method=method, body=b"{}", headers={"X-API-Key": key}) as line:
        return line.status


def test_of_a_guessers_keys_twenty_are_looked_up_and_whoever_worked_before_works_on(
    service_url, looked_up
):
    """All of them were, and the right one among them was told by its answer."""
    (_, known), (_, fresh) = make_key(), make_key(name="Fresh")
    identify(known)
    del looked_up[:]
    answers = [status_of(service_url, f"cak_{number}") for number in range(2 * MOST_GUESSES)]
    assert answers == [401] * MOST_GUESSES + [429] * MOST_GUESSES
    assert looked_up == [f"cak_{number}" for number in range(MOST_GUESSES)]
    assert {status_of(service_url, fresh, *place) for place in PLACES} == {429}
    assert len(looked_up) == MOST_GUESSES
    assert status_of(service_url, known, "GET", "/v2/components") == 200


def statuses_of_burst(url: str, keys: Sequence[str], method: str, path: str) -> list[int]:
    """What is told to requests that are all let in before the first of them is looked up."""
    first_is_looked_up = Event()
    with ExitStack() as lines:
        lines.callback(first_is_looked_up.set)  # however it ends: nobody else could read
        READER.submit(first_is_looked_up.wait)
        sent = [
            lines.enter_context(
                Line(url + path, method=method, body=b"{}", headers={"X-API-Key": key})
            )
            for key in keys
        ]
        assert eventually(lambda: READER.waiting > len(keys))
        first_is_looked_up.set()
        return [line.status for line in sent]


@pytest.mark.parametrize(
    ("method", "path"), [place for place in PLACES if "calculator" not in place[1]]
)
def test_of_keys_that_come_at_once_no_more_are_looked_up_than_one_after_the_other(
    service_url, looked_up, method, path
):
    """All that came before the first was counted were looked up, six hundred and more."""
    keys = [f"cak_{number}" for number in range(3 * MOST_GUESSES)]
    told = statuses_of_burst(service_url, keys, method, path)
    assert (len(looked_up), sorted(told)) == (
        MOST_GUESSES,
        [401] * MOST_GUESSES + [429] * 2 * MOST_GUESSES,
    )


def test_a_good_key_that_nobody_has_seen_yet_opens_for_all_who_send_it_at_once(
    service_url, looked_up
):
    """A firm behind one proxy, a moment after a restart."""
    _, fresh = make_key()
    told = statuses_of_burst(service_url, [fresh] * 3 * MOST_GUESSES, "GET", "/v2/components")
    assert told == [200] * 3 * MOST_GUESSES
    assert len(looked_up) == 3 * MOST_GUESSES


def test_a_key_is_not_refused_because_somebody_elsewhere_who_asks_the_same_has_guessed(
    looked_up, transactional_db
):
    """Those who want the same list share one reading, and would have shared its refusal."""
    _, fresh = make_key()
    guess()

    asked = [
        RequestFactory().get("/agents.json", REMOTE_ADDR=where[0]) for where in (GUESSER, OTHER)
    ]
    for one in asked:
        one.META["HTTP_X_API_KEY"] = fresh

    async def both() -> list[Any]:
        return await asyncio.gather(*map(discovery.agents, asked), return_exceptions=True)

    refused, listed = async_to_sync(both)()
    assert (type(refused), listed.status_code) == (TooManyFailedAttempts, 200)
