"""Values that hold a secret do not tell it: what a fault or a callback is logged with is their `repr`."""

from pathlib import Path

import pytest

from copilot_admin.agent.values.spec import ProviderOptions, ProviderSpec
from copilot_admin.config.observability import MetricsAccess
from copilot_admin.copilots.end_users import credentials_in
from copilot_admin.server.first_start import FirstLogin

SECRET = "sk-canary-of-somebody"


@pytest.mark.parametrize(
    "value",
    [
        credentials_in({"X-API-Key": SECRET}),
        credentials_in({"Authorization": f"Bearer {SECRET}"}),
        ProviderSpec(name="p", kind="k", api_key=SECRET),
        ProviderOptions(headers=(("X-Key", SECRET),)),
        MetricsAccess(token=SECRET),
        FirstLogin("admin", SECRET, Path("login")),
    ],
)
def test_a_value_does_not_tell_its_secret(value: object):
    assert SECRET not in repr(value)
