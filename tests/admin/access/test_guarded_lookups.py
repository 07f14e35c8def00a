"""No list of the admin can be filtered by a secret, one letter after the other."""

from collections.abc import Iterator
import re
from typing import Any

from django.apps import apps
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client, RequestFactory
from django.urls import reverse
import pytest

from copilot_admin.admin.common.base import SECRETS
from copilot_admin.admin.site.site import site

SECRET = re.compile(r"cipher|digest|hash|password|secret|session_")
ADMINS = list(site._registry.items())
DEPTH = 3  # models that a path leads through


def paths(model: type[Model], *, depth: int = DEPTH) -> Iterator[str]:
    """Every path of fields from a model to one that holds a secret."""
    for field in model._meta.get_fields():
        if SECRET.search(field.name):
            yield field.name
        elif field.related_model and depth > 1:
            related: Any = field.related_model
            yield from (f"{field.name}__{path}" for path in paths(related, depth=depth - 1))


def test_every_secret_of_the_schema_is_in_the_list() -> None:
    fields = {field.name for model in apps.get_models() for field in model._meta.concrete_fields}
    assert {name for name in fields if SECRET.search(name)} == SECRETS


@pytest.mark.parametrize(
    ("model", "admin"), ADMINS, ids=lambda one: one.__name__ if isinstance(one, type) else None
)
def test_no_path_to_a_secret_is_a_filter(model: type[Model], admin: Any) -> None:
    request = RequestFactory().get("/")
    for path in paths(model):
        for lookup in ("", "__startswith", "__regex", "__gt", "__exact", "__isnull"):
            assert not admin.lookup_allowed(f"{path}{lookup}", "a", request), path


@pytest.mark.django_db
def test_an_address_that_filters_by_a_secret_is_refused(client: Client) -> None:
    client.force_login(User.objects.create_superuser("root"))
    url = reverse("admin:copilot_admin_copilot_changelist")
    assert client.get(url, {"keys__digest__startswith": "a"}).status_code == 400
