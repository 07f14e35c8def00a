"""What the tests share that knock at every door."""

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
