"""A form that names a row no database can have is told so at its field, on every page with such a field."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import ManyToManyField
from django.test import Client, RequestFactory
import pytest

from copilot_admin.admin.frame.site import site
from copilot_admin.models import EndpointKey
from tests.factories import make_copilot, make_user

pytestmark = pytest.mark.django_db

FIELDS = [
    pytest.param(admin, field, id=f"{model.__name__}.{field.name}")
    for model, admin in site._registry.items()
    for field in model._meta.many_to_many
]
NO_ROW = ("9223372036854775808", "-9223372036854775809", "9" * 5000, "x", "\x00", "")


@pytest.mark.parametrize("chosen", NO_ROW, ids=range(len(NO_ROW)))
@pytest.mark.parametrize(("admin", "db_field"), FIELDS)
def test_what_can_be_no_row_is_refused_at_its_field(
    admin: Any, db_field: ManyToManyField[Any, Any], chosen: str, rf: RequestFactory
) -> None:
    request = rf.get("/")
    request.user = make_user(is_superuser=True)
    field = admin.formfield_for_dbfield(db_field, request)
    with pytest.raises(ValidationError) as refused:
        field.clean([chosen])
    assert refused.value.code == "invalid_pk_value"


def test_the_pages_with_such_fields_are_those_of_people_groups_and_keys() -> None:
    assert {str(one.id) for one in FIELDS} == {
        "EndpointKey.copilots",
        "Group.permissions",
        "User.groups",
        "User.user_permissions",
    }


def test_a_form_comes_back_with_words(client: Client) -> None:
    client.force_login(make_user(is_superuser=True))
    fields = {"name": "Quants", "permissions": ["18446744073709551616"]}
    page = client.post("/admin/auth/group/add/", fields)
    assert page.status_code == 200
    assert page.context["adminform"].form.errors == {
        "permissions": ["“18446744073709551616” is not a valid value."]
    }


def test_rows_that_there_are_can_be_chosen(rf: RequestFactory) -> None:
    copilot = make_copilot()
    request = rf.get("/")
    request.user = make_user(is_superuser=True)
    admin: Any = site._registry[EndpointKey]
    field = admin.formfield_for_dbfield(EndpointKey._meta.get_field("copilots"), request)
    assert list(field.clean([str(copilot.pk)])) == [copilot]
