"""Every key that a server writes to Redis expires."""

from contextlib import ExitStack, closing
import json
from pathlib import Path
import sqlite3
from typing import Any
import urllib.request

import pytest
import redis
from websockets.sync.client import connect
from websockets.typing import Origin

from benchmarks.processes import free_port
from tests import services
from tests.databases import copy_for_server
from tests.deploy.machine import (
    COPILOT,
    QUESTION,
    Server,
    asked,
    manage,
    production,
    serving,
    slow_model,
)
from tests.polling import eventually

pytestmark = [pytest.mark.redis, pytest.mark.django_db]
JSON = {"Content-Type": "application/json"}
LIMITED = COPILOT.replace("access: open", "access: open, limits: {limits}")
KINDS = [f"{measure}_per_{period}" for measure in ("requests", "tokens", "usd")
         for period in ("minute", "day", "month")]  # fmt: skip
KEYS = {"allauth", "asgi", "rate", "slots"}
LIMITS = json.dumps(dict.fromkeys(KINDS, 1000) | {"concurrent": 1})
PREPARE = """
import json
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.conf import settings
from copilot_admin.models import LimitScope, SubjectLimits
call_command("copilots", "import", 'FILE', publish=True)
for scope in (LimitScope.SERVER, LimitScope.ADDRESS):
    SubjectLimits.objects.create(scope=scope, limits=json.loads('LIMITS'))
browser = Client()
browser.force_login(User.objects.create_superuser("admin", password="x"))
Client().post("/admin/login/", {"login": "somebody", "password": "wrong"})
print("SESSION", settings.SESSION_COOKIE_NAME, browser.session.session_key)
"""


def find_keys_without_end(client: Any) -> list[bytes]:
    return [key for key in client.scan_iter() if client.ttl(key) == -1]


def get_kind(key: bytes) -> str:
    """Return the part of a key without ids and digests."""
    words = key.decode().removeprefix(":3:").split(":")
    return words[1] if words[0] == "copilot-limits" else words[0]


@pytest.mark.nightly
def test_every_key_has_an_end(tmp_path: Path) -> None:
    copy_for_server(tmp_path / "data")
    environment = production(
        tmp_path,
        "",
        COPILOT_ENV="development",  # for a session over http
        DJANGO_SETTINGS_MODULE="copilot_admin.settings",
        REDIS_URL=services.REDIS_URL,
    )
    with redis.Redis.from_url(services.REDIS_URL) as client, ExitStack() as running:
        client.flushdb()
        model = running.enter_context(slow_model())
        file = tmp_path / "news.yaml"
        file.write_text(LIMITED.format(url=model, limits=LIMITS))
        prepare = PREPARE.replace("LIMITS", LIMITS).replace("FILE", str(file))
        said = manage(environment, "shell", "--command", prepare)
        name, key = said.rpartition("SESSION ")[2].split()
        cookie = f"{name}={key}"
        server = Server(environment, free_port())
        running.enter_context(serving(server))
        here = f"127.0.0.1:{server.port}"
        question = f"http://{here}/v1/copilots/news/query"
        assert asked(question, QUESTION)[0] == 200
        assert asked(f"http://{here}/admin/", Cookie=cookie)[0] == 200
        with closing(sqlite3.connect(tmp_path / "data" / "copilot.sqlite3")) as rows:
            ((conversation,),) = rows.execute("SELECT max(id) FROM copilot_admin_conversation")
        page = f"ws://{here}/ws/transcripts/{conversation}/"
        with (
            connect(page, origin=Origin(f"http://{here}"), additional_headers={"Cookie": cookie}),
            urllib.request.urlopen(urllib.request.Request(question, QUESTION, JSON)),  # loopback
        ):
            assert eventually(lambda: any(b"transcript" in key for key in client.scan_iter()))
            eventually(lambda: {get_kind(key) for key in client.scan_iter()} >= KEYS)
            kinds = {get_kind(key) for key in client.scan_iter()}
            assert (kinds, find_keys_without_end(client)) == (KEYS, [])
