"""Names of all that people make are shown as what they are."""

from typing import Any

from django.contrib.admin import ModelAdmin
from django.http import QueryDict
from django.test import RequestFactory
import pytest

from copilot_admin.admin.frame.site import site
from tests.factories import make_user

pytestmark = pytest.mark.django_db
NAMES = ("name", "username")


def form_of(admin: ModelAdmin[Any]) -> Any:
    request = RequestFactory().get("/")
    request.user = make_user(is_superuser=True)
    return admin.get_form(request) if admin.has_add_permission(request) else None


@pytest.mark.parametrize("admin", site._registry.values(), ids=lambda one: one.opts.model_name)
def test_a_sign_that_turns_the_direction_is_in_no_name(admin: ModelAdmin[Any]) -> None:
    form = form_of(admin)
    fields = form.base_fields if form is not None else {}
    for name in [one for one in NAMES if one in fields]:
        typed = form(QueryDict(f"{name}=a%E2%80%AEb"))
        typed.is_valid()
        assert [str(one) for one in typed.errors[name]] == [
            "The invisible sign U+202E turns the direction of the text. Take it out: what follows "
            "it would be shown in another order than it has."
        ], name
