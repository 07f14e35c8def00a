"""What every page knows."""

from django.test import Client
import pytest

from tests.factories import make_user


@pytest.mark.django_db
def test_a_page_knows_how_much_the_server_reads_of_a_form(client: Client, settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 5000
    client.force_login(make_user(is_superuser=True))
    page = client.get("/admin/").content.decode()
    assert 'data-most-together="5000"' in page
