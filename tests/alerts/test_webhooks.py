"""Webhooks: a receiver can tell ours from forged ones, and none can keep, lead or feed the server."""

import re
from types import SimpleNamespace
from typing import Any

import pytest

from copilot_admin.agent.fetching.egress import Egress
from copilot_admin.alerts.deliveries import (
    DeliveryResult,
    build_signature_headers,
    decrypt_secret,
    issue_secret,
)
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import AlertWebhook
from copilot_admin.settings import BASE_DIR
from tests.alerts.alerting import NOON, answering, make_webhook, posted, silent

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _loopback_is_allowed(settings: Any) -> None:
    settings.FETCH_ALLOW = ("127.0.0.1",)


def receiver_of_the_docs() -> Any:
    """The function that the documentation shows to receivers."""
    text = (BASE_DIR / "docs" / "alerts.md").read_text()
    (code,) = [
        one for one in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "def is_ours" in one
    ]
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102  # our own document
    return SimpleNamespace(**names)


def test_a_receiver_gets_the_message_and_can_check_it():
    result, server, delivery, secret = posted(answering(body=b"thanks"))
    assert result == DeliveryResult(is_delivered=True, status=200, answer="thanks")
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/hook")
    assert request.json["type"] == "alert.test"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["webhook-id"] == str(delivery.pk)
    at = int(NOON.timestamp())
    assert request.headers["webhook-timestamp"] == str(at)
    is_ours = receiver_of_the_docs().is_ours
    assert is_ours(secret, request.headers, request.body, now=at)
    assert not is_ours(secret, request.headers, request.body + b" ", now=at)
    assert not is_ours(secret, request.headers, request.body, now=at + 301)
    assert not is_ours(issue_secret(delivery.webhook), request.headers, request.body, now=at)


def test_the_signature_is_that_of_standard_webhooks():
    """The example of its specification."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    body = b'{"test": 2432232314}'
    headers = build_signature_headers(
        secret,
        message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        at=NOON.fromtimestamp(1614265330, NOON.tzinfo),
        body=body,
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_secret_is_sealed_for_its_row_and_shown_once():
    webhook, secret = make_webhook()
    other, _ = make_webhook()
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", secret)
    kept = AlertWebhook.objects.get(pk=webhook.pk)
    assert secret not in kept.secret_cipher
    assert decrypt_secret(kept) == secret
    assert issue_secret(kept) != secret
    other.secret_cipher = kept.secret_cipher
    with pytest.raises(ConfigurationError, match="belongs to another row"):
        decrypt_secret(other)


@pytest.mark.parametrize("status", [300, 410, 503])
def test_an_answer_that_is_no_yes_is_tried_again(status):
    result = posted(answering(status, b"<b>no</b>\r\nX: y"))[0]
    assert result == DeliveryResult(is_delivered=False, status=status, answer="<b>no</b>\r\nX: y")


def test_a_redirect_is_not_followed():
    handler = answering(302, b"", Location="http://169.254.169.254/latest/meta-data")
    result, server, *_ = posted(handler)
    assert result == DeliveryResult(is_delivered=False, status=302, answer="")
    assert len(server.requests) == 1


def test_a_webhook_that_never_answers_times_out(monkeypatch):
    monkeypatch.setattr(Egress.post, "__kwdefaults__", {"seconds": 0.05})
    answer = "It did not arrive within 0.05 seconds."
    assert posted(silent)[0] == DeliveryResult(is_delivered=False, answer=answer)


def test_a_receiver_in_a_private_network_needs_leave(settings):
    settings.FETCH_ALLOW = ()
    result, server, *_ = posted(answering())
    assert (result.is_delivered, result.is_final, server.connections) == (False, True, 0)
    assert "COPILOT_FETCH_ALLOW" in result.answer
