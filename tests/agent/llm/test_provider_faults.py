"""What of a provider that was not asked is told as a fault of this machine."""

import errno
import os

from aiohttp import ClientOSError
import pytest

from copilot_admin.agent.llm.provider_faults import ProviderFaults
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.errors import ProviderUnavailable


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_a_server_without_open_files_does_not_blame_the_provider(number):
    """Builders looked for a model's server that ran all the time."""
    faults = ProviderFaults(ProviderSpec(name="local", kind="x"))
    error = faults.before_head(ClientOSError(number, os.strerror(number)))
    assert isinstance(error, ProviderUnavailable)
    assert error.public == (
        "This server may not open more connections at the moment. Ask again in a few seconds; if it "
        "stays so, whoever runs it should raise its limit of open files."
    )
    assert os.strerror(number) in error.detail
