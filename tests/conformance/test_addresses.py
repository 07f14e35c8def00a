"""The addresses of the service, however they are written and with whatever method they are asked."""

import json

import pytest

from tests.conformance.strangers import import_template
from tests.wire import Line
from tests.workspace.model_server import ModelServer

pytestmark = pytest.mark.django_db(transaction=True)

ORIGIN = {"Origin": "https://pro.openbb.co"}


@pytest.mark.parametrize("name", ["agents.json", "copilots.json"])
def test_discovery_is_found_with_a_slash_too_many(name, service_url, model: ModelServer):
    """Workspace asks for `//agents.json` where its user ended the base URL with a slash."""
    import_template("prompt-optimizer", model)
    url = f"{service_url}//{name}"
    with Line(url, method="GET", headers=ORIGIN) as line:
        document = json.loads(line.read_all())
    assert line.status == 200
    assert line.headers["access-control-allow-origin"] == ORIGIN["Origin"]
    query = document["prompt-optimizer"]["endpoints"]["query"]
    assert query.startswith(f"{service_url}/v1/copilots/prompt-optimizer/query")


@pytest.mark.parametrize(
    ("path", "method", "allowed"),
    [
        ("/v1/copilots/prompt-optimizer/query", "GET", "POST"),
        ("/v1/copilots/prompt-optimizer/query", "PROPFIND", "POST"),
        ("/v1/copilots/prompt-optimizer/image", "DELETE", "GET, HEAD"),
        ("/agents.json", "POST", "GET, HEAD"),
    ],
)
def test_another_method_is_refused_in_words_that_programs_read(path, method, allowed, service_url):
    with Line(f"{service_url}{path}", method=method, headers=ORIGIN) as line:
        told = json.loads(line.read_all())
    assert line.status == 405
    assert told == {
        "detail": f"{method} is not served here. Send {allowed.replace(', ', ' or ')}.",
        "code": "wrong-method",
    }
    assert line.headers["content-type"].startswith("application/json")
    assert line.headers["allow"] == allowed
    assert line.headers["access-control-allow-origin"] == ORIGIN["Origin"]
