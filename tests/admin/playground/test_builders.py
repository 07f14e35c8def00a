"""Nobody but who makes copilots in the admin reaches any address of the playground."""

from typing import Any

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.admin.playground.urls import urlpatterns
from copilot_admin.config.roles import Role
from tests.factories import make_copilot, make_saved, make_user

pytestmark = pytest.mark.django_db
NAMES = [pattern.name for pattern in urlpatterns]


@pytest.mark.parametrize(
    "who",
    [
        None,
        {"groups": (Role.REVIEWERS,)},
        # Taken out of the admin, or away, while he was logged in.
        {"groups": (Role.BUILDERS,), "is_staff": False},
        {"groups": (), "is_superuser": True, "is_staff": False},
        {"groups": (Role.BUILDERS,), "is_active": False},
    ],
    ids=["nobody", "a reviewer", "not let in", "a superuser who is not let in", "inactive"],
)
@pytest.mark.parametrize("name", NAMES)
def test_whoever_may_not_build_is_refused(client: Client, name: str, who: dict[str, Any] | None):
    copilot = make_copilot()
    make_saved(copilot)
    if who is not None:
        groups, more = who["groups"], {key: who[key] for key in who if key != "groups"}
        client.force_login(make_user(*groups, **more))
    url = reverse(f"playground:{name}", args=[copilot.pk])
    refused = {client.get(url).status_code, client.post(url).status_code}
    assert refused <= {401, 403, 405}
    assert refused & {401, 403}
