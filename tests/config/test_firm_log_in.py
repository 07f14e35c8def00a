"""What the environment says of logging in with the firm's accounts."""

import pytest

from copilot_admin.config.env import BadSetting, Environment
from copilot_admin.config.firm_log_in import FirmLogIn, Passwords, RoleMap, firm_log_in, roles_in
from copilot_admin.config.roles import Role

OIDC = {
    "COPILOT_OIDC_ISSUER": "https://login.example.com/",
    "COPILOT_OIDC_CLIENT_ID": "copilots",
    "COPILOT_OIDC_CLIENT_SECRET": "secret",
    "COPILOT_OIDC_ROLES": "analysts:Builders,risk:Reviewers,risk:Auditors",
}
PROXY = {
    "COPILOT_PROXY_USER_HEADER": "X-Forwarded-User",
    "COPILOT_PROXY_GROUPS_HEADER": "X-Forwarded-Groups",
    "COPILOT_PROXY_ALLOW": "10.0.0.0/8",
    "COPILOT_PROXY_ROLES": "cn=analysts:Builders",
}


def read(*, production: bool = True, **variables: str) -> FirmLogIn:
    return firm_log_in(Environment(variables), production=production)


def test_nothing_set_is_nothing_there():
    found = read()
    assert found == FirmLogIn()
    assert (found.oidc.is_there, found.proxy.is_there, found.is_emergency_only) == (
        False,
        False,
        False,
    )


def test_a_provider_is_read_whole_and_its_secret_is_shown_nowhere():
    found = read(**OIDC, COPILOT_OIDC_SUPERUSERS="root", COPILOT_OIDC_RENEW_MIN="5")
    assert found.oidc.issuer == "https://login.example.com"
    assert found.oidc.minutes == 5
    assert found.oidc.map == RoleMap(
        roles={
            "analysts": frozenset({Role.BUILDERS}),
            "risk": frozenset({Role.REVIEWERS, Role.AUDITORS}),
        },
        superusers=frozenset({"root"}),
    )
    assert "secret" not in repr(found).replace("client_secret", "")


def test_a_secret_comes_from_a_file_too(tmp_path):
    file = tmp_path / "secret"
    file.write_text("from-a-file\n")
    others = {name: value for name, value in OIDC.items() if not name.endswith("SECRET")}
    found = read(**others, COPILOT_OIDC_CLIENT_SECRET_FILE=str(file))
    assert found.oidc.client_secret == "from-a-file"


def test_a_proxy_is_read_with_its_networks():
    found = read(**PROXY)
    assert found.proxy.headers == ("x-forwarded-user", "x-forwarded-groups")
    assert [str(one) for one in found.proxy.networks] == ["10.0.0.0/8"]
    assert found.proxy.map.roles == {"cn=analysts": frozenset({Role.BUILDERS})}


def test_passwords_may_be_for_emergencies():
    assert read(**OIDC, COPILOT_PASSWORDS="emergency").passwords is Passwords.EMERGENCY


@pytest.mark.parametrize("missing", sorted(OIDC))
def test_half_a_provider_is_refused(missing):
    some = {name: value for name, value in OIDC.items() if name != missing}
    with pytest.raises(BadSetting, match=rf"{missing}.* Set both, or neither\.$"):
        read(**some)


@pytest.mark.parametrize("missing", sorted(PROXY))
def test_half_a_proxy_is_refused(missing):
    some = {name: value for name, value in PROXY.items() if name != missing}
    with pytest.raises(BadSetting, match=rf"{missing}.* Set both, or neither\.$"):
        read(**some)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {**OIDC, **PROXY},
            "COPILOT_OIDC_ISSUER and COPILOT_PROXY_USER_HEADER are both set. Keep one of them.",
        ),
        (
            {"COPILOT_PASSWORDS": "emergency"},
            "COPILOT_PASSWORDS is emergency, and there is no other log-in. "
            "Set COPILOT_OIDC_ISSUER or COPILOT_PROXY_USER_HEADER, or use on.",
        ),
        (
            {**OIDC, "COPILOT_OIDC_ISSUER": "https://[login"},
            "COPILOT_OIDC_ISSUER is 'https://[login'. "
            "Use an address such as https://login.example.com.",
        ),
        (
            {**OIDC, "COPILOT_OIDC_ISSUER": "login.example.com"},
            "COPILOT_OIDC_ISSUER is 'login.example.com'. "
            "Use an address such as https://login.example.com.",
        ),
        (
            {**OIDC, "COPILOT_OIDC_ISSUER": "http://login.example.com"},
            "COPILOT_OIDC_ISSUER is 'http://login.example.com'. Production needs https.",
        ),
        (
            {"COPILOT_OIDC_SUPERUSERS": "root"},
            "COPILOT_OIDC_SUPERUSERS is set without COPILOT_OIDC_ISSUER. Set both, or neither.",
        ),
        (
            {"COPILOT_PROXY_SUPERUSERS": "root"},
            "COPILOT_PROXY_SUPERUSERS is set without COPILOT_PROXY_USER_HEADER. "
            "Set both, or neither.",
        ),
        ({**OIDC, "COPILOT_OIDC_SCOPES": "profile"}, "COPILOT_OIDC_SCOPES lacks openid. Add it."),
        (
            {**OIDC, "COPILOT_OIDC_ROLES": "analysts"},
            "COPILOT_OIDC_ROLES holds 'analysts'. Use group:Role, such as analysts:Builders.",
        ),
        (
            {**OIDC, "COPILOT_OIDC_ROLES": "analysts:Kings"},
            f"COPILOT_OIDC_ROLES names the role 'Kings'. Use one of {', '.join(Role)}.",
        ),
        (
            {**OIDC, "COPILOT_OIDC_RENEW_MIN": "0"},
            "COPILOT_OIDC_RENEW_MIN is '0'. Use a number from 1 to 1440.",
        ),
        (
            {**PROXY, "COPILOT_PROXY_ALLOW": "everybody"},
            "COPILOT_PROXY_ALLOW names 'everybody'. Use addresses or networks such as 10.0.0.0/8.",
        ),
        (
            {**PROXY, "COPILOT_PROXY_USER_HEADER": "X_User"},
            "COPILOT_PROXY_USER_HEADER is 'x_user'. Use the name of a header: X-Forwarded-User.",
        ),
    ],
)
def test_what_contradicts_itself_is_refused_in_one_line(changes, line):
    with pytest.raises(BadSetting) as caught:
        read(**changes)
    assert caught.value.sentence == line


def test_groups_have_colons_of_their_own():
    assert roles_in(("urn:firm:risk:Reviewers",), setting="X") == {
        "urn:firm:risk": frozenset({Role.REVIEWERS})
    }
