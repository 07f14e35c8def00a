"""What is chosen in a list is looked at before anything is done with it."""

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot
from tests.factories import make_copilot, make_user


@pytest.mark.django_db
@pytest.mark.parametrize("chosen", ["*", "", "1e9", "\0", "9" * 30, "9" * 5000, "0x1", "-9" * 12])
def test_a_chosen_row_that_can_be_none_is_refused(chosen):
    copilot = make_copilot()
    browser = Client()
    browser.force_login(make_user(Role.OPERATORS, Role.BUILDERS))
    data = {"action": "enable_chosen", "_selected_action": [copilot.pk, chosen]}
    response = browser.post(reverse("admin:copilot_admin_copilot_changelist"), data)
    assert response.status_code == 400
    assert Copilot.objects.count() == 1
