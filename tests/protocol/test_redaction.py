"""Secrets leave requests before anything is stored."""

from typing import Any

import pytest

from protocol.redaction import is_secret_name, redact, redact_text, redact_url

SECRETS = (
    "auth_token authToken Authorization X-API-Key api_keys openai_api_key password client_secret "
    "access-token Set-Cookie token privateKey credentials jwt passphrase"
)
OTHERS = f"author tokens max_tokens key yKey symbol secretary {'x' * 200}_token"


@pytest.mark.parametrize(("names", "are_secret"), [(SECRETS, True), (OTHERS, False)])
def test_names_of_secrets_are_known_in_any_spelling(names: str, are_secret: bool):
    assert {name: is_secret_name(name) for name in names.split()} == dict.fromkeys(
        names.split(), are_secret
    )


def test_secret_members_are_left_out_at_any_depth():
    request: Any = {
        "tools": [{"name": "search", "auth_token": "canary", "url": "https://mcp.example.com"}],
        "api_keys": {"openai_api_key": "canary", "other": "canary"},
        "headers": {"Authorization": {"scheme": "Bearer", "value": "canary"}},
        "widgets": {"primary": [{"metadata": {"apiKey": "canary", "symbol": "AAPL"}}]},
    }
    assert redact(request) == {
        "tools": [{"name": "search", "url": "https://mcp.example.com"}],
        "headers": {},
        "widgets": {"primary": [{"metadata": {"symbol": "AAPL"}}]},
    }
    assert request["api_keys"] == {"openai_api_key": "canary", "other": "canary"}


@pytest.mark.parametrize("described", ["properties", "$defs", "definitions"])
def test_parameters_of_a_schema_may_be_called_like_secrets(described):
    schema: Any = {described: {"token": {"type": "string"}, "password": "canary"}, "type": "object"}
    assert redact(schema) == {described: {"token": {"type": "string"}}, "type": "object"}


@pytest.mark.parametrize(
    ("url", "unsigned"),
    [
        ("https://x.example/a.pdf", "https://x.example/a.pdf"),
        ("https://x.example/a.pdf?page=2", "https://x.example/a.pdf?page=2"),
        ("https://b.s3.amazonaws.com/a.pdf?X-Amz-Algorithm=A&X-Amz-Credential=c&X-Amz-Date=d"
         "&X-Amz-Expires=9&X-Amz-SignedHeaders=host&X-Amz-Signature=canary&versionId=3",
         "https://b.s3.amazonaws.com/a.pdf?versionId=3"),
        ("https://x.example/a?X-Goog-Signature=canary&x=1", "https://x.example/a?x=1"),
        ("https://a.blob.core.windows.net/c/f?sv=2022&se=2030&sr=b&sp=r&skoid=x&sig=canary&p=1",
         "https://a.blob.core.windows.net/c/f?p=1"),
        ("https://x.example/a?se=1&sp=2", "https://x.example/a?se=1&sp=2"),
        ("https://x.example/a?Policy=p&Signature=s&Key-Pair-Id=k", "https://x.example/a"),
        ("https://x.example/a?access_token=canary#top", "https://x.example/a#top"),
        ("https://x.example/a#access_token=canary", "https://x.example/a"),
        ("https://user:canary@x.example/a", "https://x.example/a"),
        ("https://x.example/a?email=a@b.c", "https://x.example/a?email=a@b.c"),
        ("https://x.example/a?%73ig=canary", "https://x.example/a"),
        ("https://x.example/a?", "https://x.example/a"),
    ],
)  # fmt: skip
def test_signatures_leave_urls(url: str, unsigned: str):
    assert redact_url(url) == unsigned
    assert redact_url(unsigned) == unsigned


SIGNING = (
    "auth cookie credentials password api_key secret_key signingKey jwt session_token X-Amz-Date "
    "X-Goog-Date sig signature sign hmac policy Key-Pair-Id AWSAccessKeyId GoogleAccessId expires "
    "expiry expiration key apikey sas_token sastoken"
)


@pytest.mark.parametrize("name", SIGNING.split())
def test_a_parameter_of_each_name_that_signs_leaves_an_address(name: str):
    assert redact_url(f"https://x.example/a?p=1&{name}=canary") == "https://x.example/a?p=1"


@pytest.mark.parametrize(
    ("text", "unsigned"),
    [
        ("see https://x.example/a?sig=canary for more", "see https://x.example/a for more"),
        ("(https://x.example/a?p=1&token=canary)", "(https://x.example/a?p=1"),
        ('{"url":"https://x.example/a?sig=canary","b":1}', '{"url":"https://x.example/a","b":1}'),
        (r'"https:\/\/x.example\/a?p=1&sig=canary"', r'"https:\/\/x.example\/a?p=1"'),
        (r"https://x.example/a?p=1\u0026sig=canary\u0026q=2", r"https://x.example/a?p=1\u0026q=2"),
        ("https://x.example/a?p=1&amp;sig=canary", "https://x.example/a?p=1"),
        ("https://x.example/a?p=1&amp;se=2", "https://x.example/a?p=1&amp;se=2"),  # too short
        (r"https:\/\/x.example?sig=canary&p=1", r"https:\/\/x.example?&p=1"),
        ("a=b &amp; c", "a=b &amp; c"),
    ],
)
def test_signatures_leave_texts(text: str, unsigned: str):
    assert redact_text(text) == unsigned
