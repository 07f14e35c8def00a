"""`/metrics` is for clients with its token or from an allowed network."""

from typing import Any

import pytest

from copilot_admin.config.observability import MetricsAccess
from copilot_admin.http.auth_throttle import MAX_FAILURES_PER_MINUTE
from copilot_admin.http.middleware import serve_metrics
from tests.http.asgi_client import Answer, call, scope

TOKEN = "a token of some length"
METRICS = b"# metrics\n"


def metrics_access(token: str, networks: tuple[str, ...]) -> MetricsAccess:
    given = {"networks": networks, **({"token": token} if token else {})}
    return MetricsAccess.model_validate(given)


class Metrics:
    """Metrics of a test."""

    refreshed = 0

    def format_text(self, accept: str) -> tuple[bytes, str]:
        return METRICS + accept.encode(), "text/plain"

    def refresh(self) -> None:
        self.refreshed += 1


async def elsewhere(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": scope["path"].encode()})


def get(readers: MetricsAccess, path: str = "/metrics", **about: Any) -> tuple[Answer, Metrics]:
    metrics = Metrics()
    page = serve_metrics(elsewhere, metrics=metrics, readers=readers, refresh=metrics.refresh)  # type: ignore[arg-type]
    return call(page, scope(path, **{"client": ("192.0.2.7", 5), **about})), metrics


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_the_token_opens_fresh_metrics():
    answer, metrics = get(metrics_access(TOKEN, ()), headers={**bearer(TOKEN), "Accept": "all"})
    assert (answer.status, answer.body) == (200, METRICS + b"all")
    assert answer.header("content-type") == "text/plain"
    assert answer.header("cache-control") == "no-store"
    assert metrics.refreshed == 1


@pytest.mark.parametrize(
    "headers",
    [{}, bearer("another one"), bearer(f"{TOKEN}x"), bearer("ü"), {"Authorization": TOKEN}],
)
def test_without_the_token_nothing_is_shown(headers):
    answer, metrics = get(metrics_access(TOKEN, ()), headers=headers)
    assert (answer.status, answer.header("www-authenticate")) == (401, "Bearer")
    assert METRICS not in answer.body
    assert metrics.refreshed == 0


def test_wrong_tokens_are_throttled_and_missing_ones_are_not():
    readers = metrics_access(TOKEN, ())
    attempts = MAX_FAILURES_PER_MINUTE + 1
    assert {get(readers)[0].status for _ in range(attempts)} == {401}
    statuses = [get(readers, headers=bearer("wrong"))[0].status for _ in range(attempts)]
    assert statuses == [401] * MAX_FAILURES_PER_MINUTE + [429]
    assert get(readers, headers=bearer(TOKEN))[0].status == 200


@pytest.mark.parametrize(
    ("client", "status"),
    [
        (("10.1.2.3", 5), 200),
        (("::ffff:10.1.2.3", 5), 200),
        (("2001:db8::1", 5), 200),
        (("11.1.2.3", 5), 403),
        (("testclient", 5), 403),
        (None, 403),
    ],
)
def test_an_allowed_network_needs_no_token(client, status):
    answer, _ = get(metrics_access("", ("10.0.0.0/8", "2001:db8::1")), client=client)
    assert answer.status == status


@pytest.mark.parametrize(
    ("client", "token", "status"),
    [("10.0.0.1", TOKEN, 200), ("10.0.0.1", "wrong", 401), ("192.0.2.1", TOKEN, 403)],
)
def test_if_both_are_set_both_are_needed(client, token, status):
    readers = metrics_access(TOKEN, ("10.0.0.1",))
    assert get(readers, client=(client, 5), headers=bearer(token))[0].status == status
