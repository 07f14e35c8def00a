"""Who is refused for want of a key is told in which form to bring one (RFC 9110, 15.5.2)."""

from django.test import Client
import pytest

from tests.factories import make_published

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("headers", [{}, {"X-API-Key": "cak_no"}])
def test_an_answer_401_names_the_scheme(client: Client, headers: dict[str, str]) -> None:
    copilot = make_published(access="key")
    path = f"/v1/copilots/{copilot.slug}/query"
    body = {"messages": [{"role": "human", "content": "Hi"}]}
    response = client.post(path, body, content_type="application/json", headers=headers)
    assert (response.status_code, response.headers["WWW-Authenticate"]) == (401, "Bearer")
