"""Pages without pop-ups."""

import re

from django.test import Client
import pytest

from copilot_admin.config.roles import Role
from tests.factories import make_copilot, make_user

pytestmark = pytest.mark.django_db
LIST = "/admin/copilot_admin/copilot/"


def scripts_of_django(client: Client, path: str) -> list[str]:
    """What a page loads of Django's own scripts, in order."""
    return re.findall(r'src="/static/admin/js/([^"]+)"', client.get(path).content.decode())


def test_no_script_of_pop_ups_or_of_slugs_is_loaded(client: Client):
    client.force_login(make_user(Role.BUILDERS))
    form = ["theme.js", "core.js", "actions.js", "change_form.js"]
    assert scripts_of_django(client, f"{LIST}{make_copilot().pk}/change/") == form
    assert scripts_of_django(client, f"{LIST}add/") == form
    assert scripts_of_django(client, LIST) == ["theme.js", "core.js", "actions.js", "filters.js"]
