"""The OpenAPI document of the HTTP API."""

import json

from django.test import Client
import pytest

from tests.factories import make_user

pytestmark = pytest.mark.django_db


def test_it_describes_every_endpoint_with_its_errors_and_keys():
    def unique(pairs):
        keys = [key for key, _ in pairs]
        assert len(keys) == len(set(keys)), keys
        return dict(pairs)

    document = json.loads(Client().get("/openapi.json").content, object_pairs_hook=unique)
    paths, schemas = document["paths"], document["components"]["schemas"]
    assert {path: sorted(operations) for path, operations in paths.items()} == {
        "/agents.json": ["get"],
        "/copilots.json": ["get"],
        "/v1/copilots/{slug}/feedback": ["post"],
        "/v1/copilots/{slug}/image": ["get"],
        "/v1/copilots/{slug}/query": ["post"],
        "/v2/components": ["get"],
        "/v2/components/{component}": ["post"],
        "/v2/components/{component}/version/{version}": ["get", "post"],
    }
    query = paths["/v1/copilots/{slug}/query"]["post"]
    call = paths["/v2/components/{component}/version/{version}"]["post"]
    for operation, problem in ((query, "Problem"), (call, "ComponentProblem")):
        assert {"200", "400", "401", "404", "413", "429", "503"} <= set(operation["responses"])
        schema = operation["responses"]["404"]["content"]["application/json"]["schema"]
        assert schema["$ref"].rpartition("/")[2] == problem
        assert "text/event-stream" in operation["responses"]["200"]["content"]
        body = operation["requestBody"]["content"]["application/json"]["schema"]["properties"]
        assert {"messages", "parameters"} & body.keys()
    assert "_sys_origin_query" in schemas["CallParameters"]["properties"]
    assert schemas["ComponentProblem"]["required"] == ["request_id", "code", "message"]
    assert call["security"] == [{"bearer": []}, {"key": []}]
    assert document["components"]["securitySchemes"]["key"]["name"] == "X-API-Key"


def test_its_page_is_served_from_this_server():
    client = Client()
    client.force_login(make_user(is_superuser=True))
    page = client.get("/docs").content.decode()
    assert "http://" not in page.replace("http://testserver", "")
    assert "https://" not in page
