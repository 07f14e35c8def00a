"""What pytest-django lays around every test, for tests of a kind that we have none of.

Each is made and taken down twelve thousand times, and looks for a mark that no test bears. Here they
are made once.
"""

import pytest


def _nothing() -> None:
    """In the place of what is spared."""


def _spare(name: str) -> object:
    return pytest.fixture(_nothing, scope="session", name=name)


live_server = _spare("_live_server_helper")  # ours is `tests/live_server.py`
test_cases = _spare("_django_setup_unittest")
other_addresses = _spare("_django_set_urlconf")
other_apps = _spare("_django_isolate_apps")
wrong_variables = _spare("_template_string_if_invalid_marker")
several_sites = _spare("_django_clear_site_cache")
