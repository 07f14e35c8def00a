"""A text that one database refuses, the other refuses too."""

from django.db import DataError, connection, transaction
import pytest

from copilot_admin.models import Provider
from tests.factories import make_provider

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def refused(write):
    with pytest.raises(DataError, match="NUL"), transaction.atomic():
        write()


def test_no_text_with_a_nul_is_stored():
    provider = make_provider(name="Fine")
    refused(lambda: Provider.objects.filter(pk=provider.pk).update(name="a\0b"))
    refused(lambda: Provider.objects.bulk_create([Provider(name="a\0", kind="rehearsal")]))
    provider.refresh_from_db()
    assert provider.name == "Fine"


def test_nor_in_one_of_many_rows():
    update = "UPDATE copilot_admin_provider SET name = %s WHERE id = %s"

    def write():
        with connection.cursor() as cursor:
            cursor.executemany(update, [("a", 1), ("b\0", 2)])

    refused(write)


def test_what_looks_like_one_is_stored():
    provider = make_provider(name="a\\0b ␀ \\u0000")
    provider.refresh_from_db()
    assert provider.name == "a\\0b ␀ \\u0000"
