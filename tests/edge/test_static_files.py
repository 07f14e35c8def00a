"""Static files of every app come from their folders; nothing else is answered there."""

import pytest

from copilot_admin.edge.static_files import static_files
from tests.edge.asgi_client import call, scope
from tests.edge.test_edge import echo


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/static/admin/css/base.css", "text/css"),
        ("/static/copilot_admin/css/base.css", "text/css"),
    ],
)
def test_a_file_of_any_app_is_served_and_other_origins_may_not_read_it(path, kind):
    answer = call(static_files(echo), scope(path, query_string=b""))
    assert (answer.status, answer.header("access-control-allow-origin")) == (200, None)
    assert (answer.header("content-type") or "").partition(";")[0] == kind
    assert answer.body


@pytest.mark.parametrize("path", ["/static/admin/css/none.css", "/admin/css/base.css", "/admin/"])
def test_everything_else_is_handed_on(path):
    assert call(static_files(echo), scope(path, query_string=b""), body=[b"asked"]).body == b"asked"
