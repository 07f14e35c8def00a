"""What a proxy does wrong is found, since the server is asked as browsers ask it: through it."""

from pathlib import Path

from django.test import Client, override_settings
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.connection_test.steps import StepName
from copilot_admin.connection_test.values import StepResult, StepVerdict
from copilot_admin.models import Access, Copilot
from tests.admin.connect.test_testing import HERE, faults, results
from tests.docs.test_operations import proxy
from tests.factories import make_key, make_published, make_user

pytestmark = [pytest.mark.nginx, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def builder(client: Client) -> Client:
    client.force_login(make_user(Role.BUILDERS))
    return client


@pytest.fixture
def copilot() -> Copilot:
    make_key()
    return make_published(access=Access.KEY)


def through(
    folder: Path, builder: Client, copilot: Copilot, *, upstream: str, added: str = ""
) -> dict[StepName, StepResult]:
    """How all steps end behind the documented proxy with something added to it."""
    with (
        proxy(folder, upstream=upstream, added=added) as url,
        override_settings(PUBLIC_URL=url),
    ):
        return results(builder, copilot)


def test_the_documented_proxy_passes(tmp_path, service_url, builder, copilot):
    assert faults(through(tmp_path, builder, copilot, upstream=service_url)) == HERE


def test_origins_that_the_proxy_names_once_more_are_found(tmp_path, service_url, builder, copilot):
    twice = "add_header Access-Control-Allow-Origin $http_origin always;"
    found = through(tmp_path, builder, copilot, upstream=service_url, added=twice)
    assert faults(found) == {**HERE, StepName.ORIGINS: StepVerdict.BAD}


def test_a_document_that_the_proxy_hides_is_found(tmp_path, service_url, builder, copilot):
    hidden = "location = /agents.json { return 404; }"
    found = through(tmp_path, builder, copilot, upstream=service_url, added=hidden)
    assert found[StepName.AGENTS].workspace == "A valid /agents.json was not found."
    assert found[StepName.COPILOTS].verdict is StepVerdict.GOOD
    assert (found[StepName.THREE].verdict, found[StepName.TWO].verdict) == (
        StepVerdict.BAD,
        StepVerdict.GOOD,
    )


def test_a_header_that_the_proxy_does_not_pass_on_is_found(tmp_path, service_url, builder, copilot):
    without_key = (
        f'location = /agents.json {{ proxy_pass {service_url}; proxy_set_header X-API-Key ""; }}'
    )
    found = through(tmp_path, builder, copilot, upstream=service_url, added=without_key)
    assert found[StepName.AGENTS].verdict is StepVerdict.BAD
    assert "X-API-Key" in found[StepName.AGENTS].fix
