"""Who tries drafts in the tests of the playground."""

from django.contrib.auth.models import User
from django.test import Client
import pytest

from copilot_admin.config.roles import Role
from tests.factories import make_user


@pytest.fixture
def ada() -> User:
    """Somebody who makes copilots."""
    return make_user(Role.BUILDERS, username="ada")


@pytest.fixture
def builder(client: Client, ada: User) -> Client:
    """Her browser."""
    client.force_login(ada)
    return client
