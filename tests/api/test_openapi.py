"""The OpenAPI document of the HTTP API."""

import json

from django.test import Client
import pytest

from tests.factories import make_user

pytestmark = pytest.mark.django_db


def test_it_names_every_endpoint_and_each_answer_once():
    def unique(pairs):
        keys = [key for key, _ in pairs]
        assert len(keys) == len(set(keys)), keys
        return dict(pairs)

    document = json.loads(Client().get("/openapi.json").content, object_pairs_hook=unique)
    assert set(document["paths"]) == {
        "/agents.json",
        "/copilots.json",
        "/v1/copilots/{slug}/feedback",
        "/v1/copilots/{slug}/image",
        "/v1/copilots/{slug}/query",
        "/v2/components",
        "/v2/components/{component}",
        "/v2/components/{component}/version/{version}",
    }
    query = document["paths"]["/v1/copilots/{slug}/query"]["post"]
    assert sorted(query["responses"]) == [
        "200",
        "400",
        "401",
        "403",
        "404",
        "413",
        "415",
        "422",
        "429",
        "503",
    ]
    assert query["requestBody"]["required"] is True


def test_it_says_how_a_component_is_called():
    document = Client().get("/openapi.json").json()
    paths = document["paths"]
    call = paths["/v2/components/{component}/version/{version}"]["post"]
    statuses = ["200", "400", "401", "403", "404", "405", "413", "415", "429", "500", "503"]
    assert sorted(call["responses"]) == statuses
    assert sorted(call["responses"]["200"]["content"]) == ["application/json", "text/event-stream"]
    body = call["requestBody"]["content"]["application/json"]
    assert sorted(body["schema"]["properties"]) == ["parameters", "stream"]
    assert "_sys_origin_query" in body["schema"]["properties"]["parameters"]["properties"]
    error = call["responses"]["404"]["content"]["application/json"]["schema"]
    assert error["required"] == ["request_id", "code", "message"]
    named = {one["name"]: (one["in"], one["required"]) for one in call["parameters"]}
    assert named == {
        "component": ("path", True),
        "version": ("path", True),
        "action": ("query", False),
    }
    assert sorted(paths["/v2/components"]) == ["get"]
    assert sorted(paths["/v2/components/{component}"]) == ["post"]
    assert sorted(paths["/v2/components/{component}/version/{version}"]) == ["get", "post"]


def test_it_says_that_components_need_a_key_and_in_which_forms():
    document = Client().get("/openapi.json").json()
    schemes = document["components"]["securitySchemes"]
    assert (schemes["bearer"]["scheme"], schemes["key"]["name"]) == ("bearer", "X-API-Key")
    of_components = [
        operation["security"]
        for path, operations in document["paths"].items()
        for operation in operations.values()
        if path.startswith("/v2/")
    ]
    assert of_components == [[{"bearer": []}, {"key": []}]] * 4


def test_its_page_is_served_from_this_server(settings):
    client = Client()
    client.force_login(make_user(is_superuser=True))
    page = client.get("/docs").content.decode()
    assert "http://" not in page.replace("http://testserver", "")
    assert "https://" not in page
