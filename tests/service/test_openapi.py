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
    }
    query = document["paths"]["/v1/copilots/{slug}/query"]["post"]
    assert sorted(query["responses"]) == ["200", "400", "401", "403", "404", "413", "422", "503"]
    assert query["requestBody"]["required"] is True


def test_its_page_is_served_from_this_server(settings):
    client = Client()
    client.force_login(make_user(is_superuser=True))
    page = client.get("/docs").content.decode()
    assert "http://" not in page.replace("http://testserver", "")
    assert "https://" not in page
