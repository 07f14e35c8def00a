"""The application as `asgi.py` builds it: lifespan, static files, and a real server."""

import pytest
import requests

from copilot_admin.asgi import application, serve_static_files
from tests.factories import make_published
from tests.http.asgi_client import call, echo, scope
from tests.live_server import serving
from tests.polling import HANGS_SECONDS
from tests.wire import Line


class TestStaticFiles:
    @pytest.mark.parametrize("file", ["admin/css/base.css", "copilot_admin/css/tokens.css"])
    def test_files_of_every_app_are_served_to_this_origin(self, file):
        path = f"/static/{file}"
        answer = call(serve_static_files(echo), scope(path, query_string=b""))
        assert (answer.status, answer.header("access-control-allow-origin")) == (200, None)
        assert (answer.header("content-type") or "").startswith("text/css")

    @pytest.mark.parametrize(
        "path",
        [
            "/static/admin/css/none.css",
            "/static/admin/css/../css/base.css",
            "/static/../urls.py",
            "/static/admin/css",
            "/static/\0",
            "/admin/css/base.css",
        ],
    )
    def test_everything_else_reaches_django(self, path):
        answer = call(serve_static_files(echo), scope(path, query_string=b""), body=[b"asked"])
        assert answer.body == b"asked"


@pytest.mark.django_db(transaction=True)
class TestServer:
    """Behaviour that depends on uvicorn, over a real socket."""

    def test_bodies_origins_and_identities(self, settings):
        make_published(slug="news")
        query = "/v1/copilots/news/query"
        question = {"messages": [{"role": "human", "content": "Hello"}]}
        with serving(application) as url:
            # The client reads the 413 although it sent more than the server read.
            too_large = b"x" * (settings.MAX_BODY_BYTES + 1)
            for body in (too_large, iter([too_large])):
                answer = requests.post(url + query, data=body, timeout=HANGS_SECONDS)
                assert (answer.status_code, answer.json()["code"]) == (413, "body-too-large")
            headers = {"Origin": "https://evil.test", "Content-Type": "text/plain"}
            with Line(url + query, body=question, headers=headers) as line:
                line.read_all()
                assert (line.status, b"forbidden-origin" in line.received) == (403, True)
            with Line(url + query, body=question, headers={"Content-Type": "text/plain"}) as line:
                line.read_all()
                assert line.status == 200
