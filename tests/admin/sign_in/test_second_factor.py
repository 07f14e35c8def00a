"""Second factors: setting one up, being asked for it, and being made to."""

from io import StringIO
import re

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.config.sso import SecondFactorRule
from copilot_admin.models import Action, AuditEntry, RoleSecurity
from tests.admin.sign_in.conftest import add_app, make_code
from tests.factories import make_user

pytestmark = pytest.mark.django_db
HOME = "/admin/"


def sign_in(user) -> tuple[Client, str]:
    client = Client()
    values = {"login": user.username, "password": "secret"}
    return client, client.post(reverse("account_login"), values)["Location"]


def require(role: str) -> None:
    RoleSecurity.objects.create(group=Group.objects.get(name=role), requires_second_factor=True)


def set_up_app(client: Client) -> str:
    page = client.get(reverse("mfa_activate_totp")).text
    assert 'src="data:image/svg+xml;base64,' in page
    [secret] = re.findall(r"data-secret>(\w+)<", page)
    answer = client.post(reverse("mfa_activate_totp"), {"code": make_code(secret)})
    assert answer["Location"] == reverse("mfa_view_recovery_codes")
    return str(secret)


def test_an_app_is_set_up_and_then_asked_for():
    user = make_user(Role.BUILDERS)
    client, _ = sign_in(user)
    secret = set_up_app(client)
    codes = re.search(
        r"<pre[^>]*>(.*?)</pre>", client.get("/admin/two-factor/codes/").text, re.DOTALL
    )
    assert client.get(HOME).status_code == 200
    stored = Authenticator.objects.get(type=Authenticator.Type.TOTP).data["secret"]
    assert secret not in stored

    client, following = sign_in(user)
    assert following == reverse("mfa_authenticate")
    assert client.get(HOME).status_code == 302
    assert client.post(following, {"code": "000000"}).status_code == 200
    assert client.post(following, {"code": make_code(secret)})["Location"] == HOME
    assert client.get(HOME).status_code == 200

    client, following = sign_in(user)
    recovery = codes[1].split()[0]
    assert client.post(following, {"code": recovery})["Location"] == HOME
    client, following = sign_in(user)
    assert client.post(following, {"code": recovery}).status_code == 200  # it was used


@pytest.mark.parametrize("by", ["role", "setting"])
def test_a_required_factor_comes_before_anything_else(settings, by):
    user = make_user(Role.BUILDERS, is_superuser=by == "setting")
    client, _ = sign_in(user)
    assert client.get(HOME).status_code == 200
    if by == "role":
        require(Role.BUILDERS)
    else:
        settings.SECOND_FACTOR = SecondFactorRule.ADMINISTRATORS
    for url in (HOME, "/admin/copilot_admin/copilot/", reverse("account_change_password")):
        assert client.get(url)["Location"] == reverse("mfa_index")
    assert "ca-note--warn" in client.get(reverse("mfa_index")).text
    set_up_app(client)
    assert client.get(HOME).status_code == 200
    # The last factor can't be removed.
    client.post(reverse("mfa_deactivate_totp"))
    assert Authenticator.objects.filter(type=Authenticator.Type.TOTP).exists()


def test_the_roles_page_requires_it():
    client = Client()
    client.force_login(make_user(is_superuser=True))
    group = Group.objects.get(name=Role.REVIEWERS)
    url = reverse("admin:auth_group_change", args=[group.pk])
    kept = list(group.permissions.values_list("pk", flat=True))
    for value, expected in (("on", True), ("", False)):
        values = {"name": group.name, "permissions": kept, "requires_second_factor": value}
        assert client.post(url, values).status_code == 302
        assert RoleSecurity.objects.get(group=group).requires_second_factor is expected


def test_an_administrator_resets_lost_factors():
    user, boss = make_user(Role.BUILDERS), Client()
    add_app(user)
    session = Client()
    session.force_login(user)
    boss.force_login(make_user(is_superuser=True))
    page = boss.get(reverse("admin:auth_user_change", args=[user.pk])).text
    url = reverse("admin:auth_user_reset_mfa", args=[user.pk])
    assert url in page
    assert boss.post(url).status_code == 302
    assert not Authenticator.objects.exists()
    entry = AuditEntry.objects.filter(action=Action.CHANGED).order_by("sequence").last()
    assert (entry.subject_name, "totp removed" in str(entry.after)) == (user.username, True)
    assert sign_in(user)[1] == HOME


def test_changes_are_in_the_audit_log():
    user = make_user()
    client, _ = sign_in(user)
    secret = set_up_app(client)
    _, following = (client2 := sign_in(user))
    client2[0].post(following, {"code": "000000"})
    entries = AuditEntry.objects.filter(subject_name=user.username).order_by("sequence")
    facts = [str(entry.after) for entry in entries if "second_factor" in str(entry.after)]
    assert ["totp added" in facts[0], "recovery_codes added" in facts[1]] == [True, True]
    assert entries.last().action == Action.LOGIN_FAILED
    assert secret not in str(facts)


def test_a_command_resets_factors():
    user = make_user()
    add_app(user)
    call_command("reset_mfa", user.username, stdout=StringIO())
    assert not Authenticator.objects.exists()
    with pytest.raises(CommandError):
        call_command("reset_mfa", "nobody")


def test_factors_are_encrypted_again_with_a_new_key(settings):
    from copilot_admin.config.encryption import create_key, parse_key

    user = make_user()
    secret = add_app(user)
    settings.ENCRYPTION_KEYS = (parse_key(create_key()), *settings.ENCRYPTION_KEYS)
    call_command("secrets", "rotate")
    settings.ENCRYPTION_KEYS = settings.ENCRYPTION_KEYS[:1]
    client, following = sign_in(user)
    assert client.post(following, {"code": make_code(secret)})["Location"] == HOME
