"""What the tests share that knock at every door."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
import pytest

from copilot_admin import urls


@pytest.fixture
def short_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws no page around a refusal, for who asks some hundred addresses for the status alone."""

    def refused(_request: HttpRequest, exception: Exception) -> HttpResponse:
        return HttpResponse(type(exception).__name__, status=403)

    def missing(_request: HttpRequest, exception: Exception) -> HttpResponse:
        return HttpResponse(type(exception).__name__, status=404)

    monkeypatch.setattr(urls, "handler403", refused, raising=False)
    monkeypatch.setattr(urls, "handler404", missing, raising=False)


@pytest.fixture(
    params=[False, pytest.param(True, marks=pytest.mark.nightly)], ids=["statuses", "pages"]
)
def statuses_alone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws no page for who asks some hundred addresses for the status alone; by night it does."""
    if not request.param:
        monkeypatch.setattr(TemplateResponse, "rendered_content", "")


@pytest.fixture
def same_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads once who asks some hundred addresses, and what he may: that took a third of the time.

    For tests in which nobody's rights change.
    """
    for kind, name in ((ModelBackend, "get_user"), (SessionStore, "_get_session_from_db")):
        monkeypatch.setattr(kind, name, _once(getattr(kind, name)))


def _once(read: Any) -> Any:
    """A method that reads what it has not yet read, for any object of its class."""
    found: dict[object, Any] = {}

    def reading(self: Any, *key: Any) -> Any:
        mine = (getattr(self, "session_key", ""), *key)
        if mine not in found:
            found[mine] = read(self, *key)
        return found[mine]

    return reading
