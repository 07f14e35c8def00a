"""What every page knows."""

from django.test import Client
import pytest

from tests.factories import make_user


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("most", "together"), [(5000, 5000), (10**9, 12_582_912), (None, 12_582_912)]
)
def test_a_page_knows_how_much_the_server_reads_of_a_form(
    client: Client, settings, most, together
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = most
    client.force_login(make_user(is_superuser=True))
    page = client.get("/admin/").content.decode()
    assert f'data-most-together="{together}" data-most-encoded="1048576"' in page
