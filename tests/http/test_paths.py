"""Which addresses are the API's, and which of them stream."""

import pytest

from copilot_admin.http.asgi_types import is_api, is_component_api, is_query
from copilot_admin.http.pages_middleware import is_for_machines

KINDS = (is_api, is_query, is_component_api, is_for_machines)


@pytest.mark.parametrize(
    ("path", "kinds"),
    [
        ("/v1/copilots/news/query", {is_api, is_query, is_for_machines}),
        ("/v1/copilots/news/image", {is_api, is_for_machines}),
        ("/v1/others/query", {is_api, is_for_machines}),
        ("/v2/components", {is_api, is_component_api, is_for_machines}),
        ("/copilots.json", {is_api, is_for_machines}),
        ("/agents.json", {is_api, is_for_machines}),
        ("/healthz", {is_for_machines}),
        ("/readyz", {is_for_machines}),
        ("/admin/v1/copilots/news/query", set()),
        ("/agents.json/", set()),
        ("/v1", set()),
        ("/v2", set()),
        ("/v3/", set()),
        ("/", set()),
    ],
)
def test_an_address_says_what_answers_it(path, kinds):
    assert {kind for kind in KINDS if kind(path)} == kinds
