"""Addresses with a NUL: refused before a database is asked for them."""

import json

import pytest

from copilot_admin.asgi import application
from copilot_admin.http.nul_addresses import WithoutNulAddresses
from tests.http.asgi_client import call, scope
from tests.http.test_edge import echo

HOST = {"Host": "testserver"}


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/v1/copilots/a\0/query", b""),
        ("/admin/playground/1/answer/", b"chat=%00"),
        ("/admin/", b"a=\0"),
        ("/v2/components/\0", b""),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PROPFIND"])
def test_an_address_with_a_nul_is_refused_in_words(path, query, method):
    answer = call(application, scope(path, method=method, query_string=query, headers=HOST))
    said = json.loads(answer.body)
    assert (answer.status, said["code"]) == (400, "malformed-request")
    assert "NUL character" in (said.get("detail") or said["message"])


@pytest.mark.parametrize("query", [b"", b"a=%2500", b"a=%0a0"])
def test_others_pass(query):
    app = WithoutNulAddresses(echo)
    answer = call(app, scope("/admin/%00", method="POST", query_string=query), body=[b"read"])
    assert (answer.status, answer.body) == (200, b"read")
