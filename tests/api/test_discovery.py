"""What Workspace finds on the server, and the small endpoints around it."""

import json
from typing import Any

from asgiref.sync import async_to_sync
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import AsyncClient
import pytest

from copilot_admin.models import Copilot, CopilotVersion, Run
from copilot_admin.runs.open_run import DRAINING, REJECTED_RUNS
from protocol.features import FEATURES
from tests.factories import make_copilot, make_key, make_published

pytestmark = pytest.mark.django_db(transaction=True)


def get(path: str, **headers: str) -> tuple[int, dict[str, str], Any]:
    async def send() -> tuple[int, dict[str, str], Any]:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        response = await AsyncClient().get(path, headers=names)
        is_json = response.headers.get("Content-Type", "").startswith("application/json")
        body = json.loads(response.content) if is_json else response.content
        return response.status_code, dict(response.headers), body

    return async_to_sync(send)()


def full_copilot() -> Copilot:
    return make_published(
        slug="market-analyst",
        name="Market Analyst",
        description="Knows the market.",
        image_url="https://example.com/analyst.png",
        model_choices=[{"id": "fast", "name": "Fast"}, {"id": "deep", "name": "Deep"}],
        model="fast",
        features={feature.key: feature.key == "widget-dashboard-select" for feature in FEATURES},
        custom_features=[
            {
                "key": "tone",
                "label": "Tone",
                "type": "select",
                "default": "short",
                "options": [
                    {"label": "Short", "value": "short"},
                    {"label": "Long", "value": "long"},
                ],
            }
        ],
    )


def test_agents_json_describes_a_copilot_for_generation_3():
    full_copilot()
    status, headers, document = get("/agents.json")
    assert (status, headers["Vary"]) == (200, "Authorization, X-API-Key")
    assert document == {
        "market-analyst": {
            "name": "Market Analyst",
            "description": "Knows the market.",
            "image": "https://example.com/analyst.png",
            "endpoints": {"query": "http://testserver/v1/copilots/market-analyst/query"},
            "features": {
                "streaming": True,
                **dict.fromkeys((feature.key for feature in FEATURES), False),
                "widget-dashboard-select": True,
                "tone": {
                    "label": "Tone",
                    "type": "select",
                    "default": "short",
                    "options": [
                        {"label": "Short", "value": "short"},
                        {"label": "Long", "value": "long"},
                    ],
                },
            },
            "models": [{"id": "fast", "name": "Fast"}, {"id": "deep", "name": "Deep"}],
        }
    }


def test_drafts_and_disabled_copilots_are_not_listed():
    make_copilot(slug="draft")
    disabled = make_published(slug="disabled")
    Copilot.objects.filter(pk=disabled.pk).update(enabled=False)
    assert get("/agents.json")[2] == {}


@pytest.mark.database
def test_copilots_with_keys_are_listed_for_callers_whose_key_may_use_them():
    make_published(slug="open")
    mine = make_published(slug="mine", access="key")
    make_published(slug="foreign", access="key")
    scoped, everything = make_key(copilots=(mine,))[1], make_key()[1]
    assert set(get("/agents.json")[2]) == {"open"}
    assert set(get("/agents.json", x_api_key=scoped)[2]) == {"open", "mine"}
    bearer = get("/agents.json", authorization=f"Bearer {everything}")[2]
    assert set(bearer) == {"open", "mine", "foreign"}
    status, _, body = get("/agents.json", x_api_key="cak_wrong")
    assert (status, body["code"]) == (401, "unauthorized")


def test_a_broken_copilot_is_left_out_and_breaks_no_other():
    make_published(slug="good")
    broken = make_published(slug="broken")
    assert broken.live
    document = {**broken.live.document, "widget_data": "sometimes"}
    CopilotVersion.objects.filter(pk=broken.live.pk).update(document=document)
    assert set(get("/agents.json")[2]) == {"good"}
    assert set(get("/copilots.json")[2]) == {"good"}


def test_an_unchanged_document_is_not_sent_again():
    make_published(slug="news")
    etag = get("/agents.json")[1]["ETag"]
    assert get("/agents.json", if_none_match=etag)[::2] == (304, b"")
    assert get("/agents.json", if_none_match=f'"other", W/{etag}')[0] == 304
    make_published(slug="more")
    status, headers, _ = get("/agents.json", if_none_match=etag)
    assert (status, headers["ETag"] != etag) == (200, True)


class TestImages:
    def published_with(self, name: str) -> None:
        make_published(slug="news", image=name)

    def test_an_uploaded_image_is_served_inert(self):
        name = default_storage.save("copilots/a.png", ContentFile(b"png bytes"))
        self.published_with(name)
        status, headers, body = get("/v1/copilots/news/image")
        assert (status, body, headers["Content-Type"]) == (200, b"png bytes", "image/png")
        assert headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
        image = get("/agents.json")[2]["news"]["image"]
        assert image == "http://testserver/v1/copilots/news/image"

    def test_no_image_no_file_and_no_copilot_are_not_found(self):
        make_published(slug="plain")
        make_published(slug="remote", image_url="https://example.com/a.png")
        make_published(slug="gone", image="copilots/gone.png")
        for slug in ("plain", "remote", "gone", "nobody"):
            assert get(f"/v1/copilots/{slug}/image")[0] == 404, slug


class TestHealth:
    def test_a_process_that_answers_is_alive(self):
        assert get("/healthz")[::2] == (200, {"status": "alive"})

    @pytest.mark.database
    def test_a_server_with_its_schema_is_ready(self):
        assert get("/readyz")[::2] == (200, {"status": "ready"})

    def test_a_draining_server_is_not_ready_and_takes_no_question(self):
        make_published(slug="news")
        DRAINING.set()
        try:
            status, headers, body = get("/readyz")
            assert (status, headers["Retry-After"]) == (503, "5")
            assert body == {"status": "not ready", "reason": "draining"}
            assert get("/healthz")[0] == 200

            async def ask() -> tuple[int, str, Any]:
                response = await AsyncClient().post(
                    "/v1/copilots/news/query",
                    {"messages": [{"role": "human", "content": "Hi"}]},
                    content_type="application/json",
                )
                return response.status_code, response["Retry-After"], json.loads(response.content)

            status, wait, body = async_to_sync(ask)()
            assert (status, wait, body["code"]) == (503, "5", "draining")
            async_to_sync(REJECTED_RUNS.store)()
            run = Run.objects.get()
            assert (run.outcome, run.error_code, run.turn) == ("refused", "draining", None)
        finally:
            DRAINING.clear()

    @pytest.mark.database
    def test_missing_migrations_are_named(self):
        name = _last_migration()
        MigrationRecorder(connection).record_unapplied("copilot_admin", name)
        try:
            status, headers, body = get("/readyz")
            assert (status, headers["Retry-After"]) == (503, "5")
            assert body["reason"] == "migrations are not applied: run `manage.py migrate`"
        finally:
            MigrationRecorder(connection).record_applied("copilot_admin", name)


def _last_migration() -> str:
    leaves = MigrationLoader(connection).graph.leaf_nodes("copilot_admin")
    return str(leaves[0][1])
