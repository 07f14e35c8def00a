from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from copilot_admin.engine.fetching.addresses import check_base_url, is_forbidden
from copilot_admin.engine.llm.http_refusals import refusal, seconds_to_wait
from copilot_admin.errors import (
    NotReady,
    ProviderBusy,
    ProviderRefused,
    ProviderUnavailable,
)

NOW = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("url", "checked"),
    [
        ("https://api.example.com/v1", "https://api.example.com/v1"),
        (" http://127.0.0.1:9100/v1/ ", "http://127.0.0.1:9100/v1"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("http://10.0.0.7/v1", "http://10.0.0.7/v1"),
    ],
)
def test_addresses_of_model_servers_may_be_private(url, checked):
    assert check_base_url(url) == checked


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.example.com",
        "file:///etc/passwd",
        "ftp://x/",
        "http://",
        "http://[::1",
        "http://a:b/",
        "http://a b/",
    ],
)
def test_address_that_is_no_url_is_explained(url):
    with pytest.raises(NotReady, match="is no URL"):
        check_base_url(url)


def test_password_in_the_address_is_not_repeated():
    with pytest.raises(NotReady) as caught:
        check_base_url("https://user:hunter2@example.com/v1")
    assert caught.value.public == (
        "The provider's address holds a password. Put the key into the key field."
    )


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "[fe80::1]",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:a9fe:a9fe::]",
        "[fd00:ec2::254]",
        "100.100.100.200",
        "192.0.0.192",
        "metadata.google.internal",
        "METADATA.google.internal.",
    ],
)
def test_link_local_and_metadata_addresses_are_refused(host):
    with pytest.raises(NotReady, match="link-local or metadata"):
        check_base_url(f"http://{host}/v1")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1", "8.8.8.8", "64:ff9b::808:808"])
def test_other_hosts_are_not_forbidden(host):
    assert not is_forbidden(host)


@pytest.mark.parametrize(
    ("status", "message", "kind", "sentence"),
    [
        (401, "", ProviderRefused, "did not accept the key"),
        (403, "", ProviderRefused, "did not accept the key"),
        (402, "", ProviderRefused, "is used up"),
        (429, "insufficient_quota", ProviderRefused, "is used up"),
        (429, "", ProviderBusy, "is busy"),
        (404, "", ProviderRefused, "does not know the model or the address"),
        (413, "", ProviderRefused, "too long for the model"),
        (
            400,
            "This model's maximum context length is 8",
            ProviderRefused,
            "too long for the model",
        ),
        (400, "bad temperature", ProviderRefused, "refused the request (HTTP 400)"),
        (422, "", ProviderRefused, "refused the request (HTTP 422)"),
        (307, "", ProviderRefused, "sends requests on to another address"),
        (408, "", ProviderUnavailable, "problem of its own (HTTP 408)"),
        (409, "", ProviderUnavailable, "problem of its own (HTTP 409)"),
        (500, "", ProviderUnavailable, "problem of its own (HTTP 500)"),
        (503, "", ProviderUnavailable, "problem of its own (HTTP 503)"),
    ],
)
def test_every_status_has_its_class_and_its_sentence(status, message, kind, sentence):
    error = refusal(status, message, provider="local", detail="d", retry_after=3)
    assert (type(error), error.detail) == (kind, "d")
    assert sentence in error.public
    assert error.retry_after == (3 if error.retryable else None)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("7", 7),
        ("0.5", 0.5),
        ("-3", 0),
        ("soon", None),
        (format_datetime(NOW + timedelta(seconds=30), usegmt=True), 30),
        (format_datetime(NOW - timedelta(seconds=30), usegmt=True), 0),
        ("Mon, 02 Mar 2026 00:00:20 -0000", 20),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(header, seconds):
    assert seconds_to_wait(header, now=NOW) == seconds
