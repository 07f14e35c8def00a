"""Who was logged out while he filled in a form logs in on the spot: his words are not taken to the log-in."""

from django.test import Client
from lxml import html
import pytest

from tests.factories import make_user
from tests.transcripts.store.journaling import Client as Asking

pytestmark = pytest.mark.django_db
ADMIN = "/admin/copilot_admin"
PAGES = (
    f"{ADMIN}/copilot/add/",
    f"{ADMIN}/copilot/templates/charts/",
    f"{ADMIN}/copilot/tags/?id={{pk}}",
    f"{ADMIN}/copilot/{{pk}}/members/",
    f"{ADMIN}/modelprice/add/",
    f"{ADMIN}/modelprice/import/",
    f"{ADMIN}/reviewqueue/add/",
    f"{ADMIN}/transcriptexport/add/",
    f"{ADMIN}/conversation/learn/",
    "/admin/limits/one/?whom=user:anna",
    "/admin/privacy/hold/",
    "/admin/privacy/erase/",
    "/admin/privacy/copilots/{pk}/",
)


@pytest.mark.parametrize("path", PAGES)
def test_a_page_with_a_form_asks_for_a_log_in_on_the_spot(path: str, settings: object) -> None:
    settings.MEMBERS = True  # type: ignore[attr-defined]  # a fixture without types
    client = Client()
    client.force_login(make_user(is_superuser=True))
    asking = Asking(trace_id="t")
    asking.ask("Anything?").answer("42")
    answer = client.get(path.format(pk=asking.version.copilot_id))
    assert answer.status_code == 200
    page = html.fromstring(answer.content)
    assert page.xpath("//*[@id='content-main']/form[@method='post']")
    assert page.xpath("//*[@id='log-in-again-parts']")
    assert page.xpath("//script[contains(@src, '/log-in-again.js')]")
