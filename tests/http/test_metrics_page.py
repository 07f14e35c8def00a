"""`/metrics` is for those who have its token, or come from where it is allowed."""

from typing import Any

import pytest

from copilot_admin.config.figure_readers import FigureReaders, figure_readers
from copilot_admin.http.guesses import MOST_GUESSES
from copilot_admin.http.metrics_page import MetricsPage
from tests.http.asgi_client import Answer, call, scope

TOKEN = "a token of some length"
FIGURES = "# what there is\n"


class Exposition:
    """Figures of a test."""

    refreshed = 0

    def text(self, accept: str) -> tuple[bytes, str]:
        return f"{FIGURES}{accept}".encode(), "text/plain"

    def refresh(self) -> None:
        self.refreshed += 1


async def elsewhere(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": scope["path"].encode()})


def get(readers: FigureReaders, path: str = "/metrics", **about: Any) -> tuple[Answer, Exposition]:
    figures = Exposition()
    page = MetricsPage(elsewhere, figures=figures, readers=readers, refresh=figures.refresh)
    request = scope(path, **{"client": ("192.0.2.7", 5), **about})
    return call(page, request), figures


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_who_has_the_token_reads_fresh_figures():
    answer, figures = get(figure_readers(TOKEN, ()), headers={**bearer(TOKEN), "Accept": "all"})
    assert (answer.status, answer.body) == (200, f"{FIGURES}all".encode())
    assert answer.header("content-type") == "text/plain"
    assert answer.header("cache-control") == "no-store"
    assert figures.refreshed == 1


@pytest.mark.parametrize(
    "headers",
    [{}, bearer("another one"), bearer(f"{TOKEN}x"), bearer("ü"), {"Authorization": TOKEN}],
)
def test_without_the_token_nothing_is_said(headers):
    answer, figures = get(figure_readers(TOKEN, ()), headers=headers)
    assert answer.status == 401
    assert answer.header("www-authenticate") == "Bearer"
    assert FIGURES.encode() not in answer.body
    assert figures.refreshed == 0


def test_tokens_cannot_be_tried_one_after_the_other():
    readers = figure_readers(TOKEN, ())
    answers = [get(readers, headers=bearer("wrong"))[0] for _ in range(MOST_GUESSES + 1)]
    assert [one.status for one in answers] == [401] * MOST_GUESSES + [429]
    assert 0 < int(answers[-1].header("retry-after")) <= 60
    assert get(readers, headers=bearer(TOKEN))[0].status == 200


def test_who_sends_no_token_tries_none():
    readers = figure_readers(TOKEN, ())
    assert {get(readers)[0].status for _ in range(MOST_GUESSES + 1)} == {401}


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
def test_an_address_is_enough_where_it_is_allowed(client, status):
    answer, _ = get(figure_readers("", ("10.0.0.0/8", "2001:db8::1")), client=client)
    assert answer.status == status


@pytest.mark.parametrize(
    ("client", "token", "status"),
    [("10.0.0.1", TOKEN, 200), ("10.0.0.1", "wrong", 401), ("192.0.2.1", TOKEN, 403)],
)
def test_where_both_are_set_both_are_needed(client, token, status):
    readers = figure_readers(TOKEN, ("10.0.0.1",))
    assert get(readers, client=(client, 5), headers=bearer(token))[0].status == status


def test_figures_are_only_read():
    readers = figure_readers(TOKEN, ())
    assert get(readers, method="HEAD", headers=bearer(TOKEN))[0].status == 200
    assert get(readers, method="POST", headers=bearer(TOKEN))[0].status == 405


@pytest.mark.parametrize("path", ["/metrics/", "/admin/metrics", "/healthz"])
def test_every_other_path_goes_on(path):
    answer, _ = get(figure_readers(TOKEN, ()), path)
    assert (answer.status, answer.body) == (404, path.encode())
