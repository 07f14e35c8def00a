"""The settings model: what it accepts, and the lines with which it rejects."""

import json
import os
from pathlib import Path
import stat
import subprocess
import sys

import pytest

from copilot_admin.config.variables import WORKSPACE_ORIGINS, is_secret, iter_variables
from copilot_admin.environment import Environment, load_environment, load_or_create_secret
from copilot_admin.redaction.kinds import DataKind
from tests.jwt_issuer import key_set, pem
from tests.production import production_environment

ROOT = Path(__file__).parent.parent
CANARY = "canary-0123456789-canary"
OIDC = {
    "COPILOT_OIDC_ISSUER": "https://login.example.com/",
    "COPILOT_OIDC_CLIENT_ID": "copilots",
    "COPILOT_OIDC_CLIENT_SECRET": CANARY,
    "COPILOT_OIDC_ROLES": "analysts:Builders,risk:Reviewers,risk:Auditors",
}
PROXY = {
    "COPILOT_PROXY_USER_HEADER": "X-Forwarded-User",
    "COPILOT_PROXY_GROUPS_HEADER": "X-Forwarded-Groups",
    "COPILOT_PROXY_ALLOW": "10.0.0.1",
    "COPILOT_PROXY_SUPERUSERS": "it",
}
TOKENS = {
    "COPILOT_USER_JWKS_URL": "https://login.example.com/jwks.json",
    "COPILOT_USER_ISSUER": "https://login.example.com",
    "COPILOT_USER_AUDIENCE": "copilots",
}
SHARED_KEY = {**TOKENS, "COPILOT_USER_JWKS_URL": "", "COPILOT_USER_KEY": "s" * 32}
MAIL = {"EMAIL_HOST": "mail.example.com", "EMAIL_FROM": "copilots@example.com"}
PRODUCTION = production_environment("/unused")


def load(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Environment:
    monkeypatch.setattr(os, "environ", variables)
    return load_environment()


def reject(monkeypatch: pytest.MonkeyPatch, **variables: str) -> list[str]:
    with pytest.raises(SystemExit) as end:
        load(monkeypatch, **variables)
    return str(end.value).splitlines()


def test_an_empty_environment_is_a_development_server(monkeypatch):
    env = load(monkeypatch)
    assert env.copilot_env == "development"
    assert env.cors_origins == WORKSPACE_ORIGINS
    assert env.copilot_anonymous_per_minute is env.copilot_anonymous_concurrent is None
    assert not (env.sso.oidc.is_configured or env.metrics.is_enabled or env.traces.is_enabled)


def test_unrelated_variables_are_ignored(monkeypatch):
    load(monkeypatch, KEYS="x", ROLES="x", ISSUER="x", USER_TOKENS="x", secret_key="x")


def test_production_starts_with_the_smallest_environment(monkeypatch):
    assert load(monkeypatch, **PRODUCTION).copilot_env == "production"


@pytest.mark.parametrize(
    ("variables", "field", "expected"),
    [
        ({"COPILOT_DEBUG": " Yes "}, "copilot_debug", True),
        ({"COPILOT_DEBUG": ""}, "copilot_debug", False),
        ({"PUBLIC_URL": "http://127.0.0.1:7777/"}, "public_url", "http://127.0.0.1:7777"),
        ({"ALLOWED_HOSTS": "a.com, [::1]"}, "allowed_hosts", ("a.com", "[::1]")),
        ({"COPILOT_MAX_BODY_MB": "0.5"}, "copilot_max_body_mb", 0.5),
        ({"COPILOT_REDACT": "card"}, "copilot_redact", (DataKind.CARD,)),
        (
            {"COPILOT_CORS_HEADERS": "X-Desk,X-Region"},
            "copilot_cors_headers",
            ("x-desk", "x-region"),
        ),
        ({"COPILOT_ANONYMOUS_PER_MINUTE": "0"}, "copilot_anonymous_per_minute", 0),
        ({"COPILOT_AUDIT_LOG": "stdout"}, "copilot_audit_log", "stdout"),
        ({"COPILOT_AUDIT_LOG": "syslog://logs:1514"}, "copilot_audit_log", ("logs", 1514)),
        ({"COPILOT_AUDIT_LOG": "syslog://logs"}, "copilot_audit_log", ("logs", 514)),
    ],
)
def test_values_are_parsed(monkeypatch, variables, field, expected):
    assert getattr(load(monkeypatch, **variables), field) == expected


def test_groups_of_variables_are_parsed(monkeypatch):
    env = load(monkeypatch, **OIDC, OTEL_EXPORTER_OTLP_HEADERS="X-Key=a%20b,y=2", **TOKENS, **MAIL)
    assert env.sso.oidc.issuer == "https://login.example.com"
    assert env.sso.oidc.roles_of(("risk", "unknown")) == {"Reviewers", "Auditors"}
    assert not env.sso.oidc.makes_superuser(("risk",))
    assert env.traces.headers == {"x-key": "a b", "y": "2"}
    assert (env.user_tokens.algorithms, env.user_tokens.leeway) == (("RS256",), 30)
    assert env.user_tokens.keys is None
    env = load(monkeypatch, **PROXY)
    assert env.sso.proxy.headers == ("x-forwarded-user", "x-forwarded-groups")
    assert env.sso.proxy.makes_superuser(("it",))


# Each is rejected in production; the lines mention these variables.
REJECTED: list[tuple[dict[str, str], str]] = [
    ({"COPILOT_ENV": "prod"}, "COPILOT_ENV"),
    ({"COPILOT_DEBUG": "maybe"}, "COPILOT_DEBUG"),
    ({"COPILOT_DEBUG": "1"}, "COPILOT_DEBUG"),
    ({"SECRET_KEY": ""}, "SECRET_KEY"),
    ({"SECRET_KEY": "xyxyz" * 16}, "SECRET_KEY"),
    ({"SECRET_KEY": "django-insecure-" + PRODUCTION["SECRET_KEY"]}, "SECRET_KEY"),
    ({"SECRET_KEY_FALLBACKS": "short"}, "SECRET_KEY_FALLBACKS"),
    ({"COPILOT_AUDIT_KEYS": f"short,{PRODUCTION['SECRET_KEY']}"}, "COPILOT_AUDIT_KEYS"),
    ({"COPILOT_ENCRYPTION_KEYS": ""}, "COPILOT_ENCRYPTION_KEYS"),
    ({"COPILOT_ENCRYPTION_KEYS": "AAAA"}, "COPILOT_ENCRYPTION_KEYS"),
    ({"ALLOWED_HOSTS": ""}, "ALLOWED_HOSTS"),
    *(
        ({"ALLOWED_HOSTS": host}, "ALLOWED_HOSTS")
        for host in ("*", ".a.com", "https://a.com", "a.com:8000", "a b")
    ),
    *(
        ({"PUBLIC_URL": url}, "PUBLIC_URL")
        for url in ("http://a.com", "ftp://a.com", "a.com", "http://[::1")
    ),
    ({"PUBLIC_URL": "https://a.com/copilots"}, "PUBLIC_URL"),
    *(
        ({"CORS_ORIGINS": f"https://pro.openbb.co,{origin}"}, "CORS_ORIGINS")
        for origin in ("*", "https://*.openbb.co", "https://pro.openbb.co/", "null", "https://u@a.com")
    ),
    ({"COPILOT_CORS_HEADERS": "X Desk"}, "COPILOT_CORS_HEADERS"),
    *(
        ({"FORWARDED_ALLOW_IPS": networks}, "FORWARDED_ALLOW_IPS")
        for networks in ("*", "nginx", "10.0.0.1,0.0.0.0/0", "::/0")
    ),
    ({**PROXY, "COPILOT_PROXY_ALLOW": "0.0.0.0/0"}, "COPILOT_PROXY_ALLOW"),
    ({"COPILOT_METRICS_ALLOW": "10.0.0.0/8,::/0"}, "COPILOT_METRICS_ALLOW"),
    ({"COPILOT_METRICS_TOKEN": "short"}, "COPILOT_METRICS_TOKEN"),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"}, "OTEL_EXPORTER_OTLP_ENDPOINT"),
    ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "OTEL_EXPORTER_OTLP_PROTOCOL"),
    ({"OTEL_EXPORTER_OTLP_HEADERS": CANARY}, "OTEL_EXPORTER_OTLP_HEADERS"),
    ({"COPILOT_TRACE_SHARE": "2"}, "COPILOT_TRACE_SHARE"),
    ({"COPILOT_AUDIT_LOG": "udp://x"}, "COPILOT_AUDIT_LOG"),
    ({"DATABASE_URL": f"mongodb://u:{CANARY}@h/n"}, "DATABASE_URL"),
    ({"DATABASE_URL": f"postgres://u:{CANARY}@h:port/n"}, "DATABASE_URL"),
    ({"REDIS_URL": f"h:{CANARY}"}, "REDIS_URL"),
    ({"COPILOT_MAX_BODY_MB": "nan"}, "COPILOT_MAX_BODY_MB"),
    ({"COPILOT_BUDGET_ZONE": "Berlin"}, "COPILOT_BUDGET_ZONE"),
    ({"COPILOT_REDACT": "card,names"}, "COPILOT_REDACT"),
    ({"COPILOT_REDACT_EXPRESSIONS": '["("]'}, "COPILOT_REDACT_EXPRESSIONS"),
    ({"COPILOT_REDACT_EXPRESSIONS": "[0-9]+"}, "COPILOT_REDACT_EXPRESSIONS"),
    # Single sign-on
    *(({**OIDC, name: ""}, name) for name in OIDC),
    ({**OIDC, "COPILOT_OIDC_ISSUER": "http://login.example.com"}, "COPILOT_OIDC_ISSUER"),
    ({**OIDC, "COPILOT_OIDC_SCOPES": "profile"}, "COPILOT_OIDC_SCOPES"),
    ({**OIDC, "COPILOT_OIDC_ROLES": "analysts:Kings"}, "COPILOT_OIDC_ROLES"),
    ({**OIDC, "COPILOT_OIDC_SESSION_MIN": "0"}, "COPILOT_OIDC_SESSION_MIN"),
    *(({**PROXY, name: ""}, name.replace("SUPERUSERS", "ROLES")) for name in PROXY),
    ({**PROXY, "COPILOT_PROXY_USER_HEADER": "X_User"}, "COPILOT_PROXY_USER_HEADER"),
    ({**OIDC, **PROXY}, "COPILOT_PROXY_USER_HEADER"),
    ({"COPILOT_PASSWORDS": "off"}, "COPILOT_PASSWORDS"),
    ({"COPILOT_PASSWORDS": "emergency"}, "COPILOT_PASSWORDS"),
    # End users
    *(({**TOKENS, name: ""}, name) for name in TOKENS if name != "COPILOT_USER_JWKS_URL"),
    ({"COPILOT_USER_ISSUER": "x"}, "COPILOT_USER_JWKS_URL"),
    ({**TOKENS, "COPILOT_USER_KEY": "s" * 32}, "COPILOT_USER_KEY"),
    ({**TOKENS, "COPILOT_USER_JWKS_URL": "http://login.example.com"}, "COPILOT_USER_JWKS_URL"),
    ({**TOKENS, "COPILOT_USER_ALGORITHMS": "RS256,HS256"}, "COPILOT_USER_ALGORITHMS"),
    ({**SHARED_KEY, "COPILOT_USER_ALGORITHMS": "RS256"}, "COPILOT_USER_ALGORITHMS"),
    ({**SHARED_KEY, "COPILOT_USER_KEY": CANARY}, "COPILOT_USER_KEY"),
    ({**SHARED_KEY, "COPILOT_USER_KEY": "-----BEGIN PRIVATE KEY-----"}, "COPILOT_USER_KEY"),
    ({"COPILOT_USER_JWKS_FILE": "/nowhere"}, "COPILOT_USER_JWKS_FILE"),
    ({"COPILOT_USER_TOKEN_HEADER": "Authorization"}, "COPILOT_USER_TOKEN_HEADER"),
    ({"COPILOT_USER_PROXIES": "10.0.0.7"}, "COPILOT_USER_ID_HEADER"),
    ({"COPILOT_USER_REQUIRED": "true"}, "COPILOT_USER_REQUIRED"),
    # Mail
    ({"EMAIL_HOST": "mail.example.com"}, "EMAIL_FROM"),
    ({"EMAIL_FROM": "copilots@example.com"}, "EMAIL_HOST"),
    ({**MAIL, "EMAIL_FROM": "copilots"}, "EMAIL_FROM"),
    ({**MAIL, "EMAIL_HOST_USER": "ada"}, "EMAIL_HOST_PASSWORD"),
    (
        {**MAIL, "EMAIL_HOST_USER": "a", "EMAIL_HOST_PASSWORD": CANARY, "EMAIL_SECURITY": "none"},
        "EMAIL_SECURITY",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("variables", "name"), REJECTED)
def test_production_rejects_with_a_line_that_names_the_variable(monkeypatch, variables, name):
    [line] = reject(monkeypatch, **{**PRODUCTION, **variables})
    assert name in line
    assert CANARY not in line


def test_every_wrong_variable_has_a_line(monkeypatch):
    wrong = {"COPILOT_PRUNE_HOUR": "24", "COPILOT_ENV": "prod", "SECRET_KEY_FILE": "/nowhere"}
    assert [line.split()[0] for line in reject(monkeypatch, **wrong)] == ["SECRET_KEY_FILE:"]
    del wrong["SECRET_KEY_FILE"]
    assert [line.split()[0] for line in reject(monkeypatch, **wrong)] == [*reversed(wrong)]


@pytest.mark.parametrize(
    "variables",
    [
        {"FORWARDED_ALLOW_IPS": "*"},
        {"ALLOWED_HOSTS": "*"},
        {"PUBLIC_URL": "http://a.com"},
        {**TOKENS, "COPILOT_USER_JWKS_URL": "http://keycloak:8080/jwks.json"},
    ],
)
def test_development_accepts_what_production_rejects(monkeypatch, variables):
    load(monkeypatch, **variables)


@pytest.mark.parametrize(
    "variables",
    [
        {"COPILOT_METRICS_ALLOW": "0.0.0.0/0,::/0", "COPILOT_METRICS_TOKEN": CANARY},
        {"COPILOT_METRICS_ALLOW": "10.0.0.0/8"},
        {"PUBLIC_URL": "http://localhost:8000", "ALLOWED_HOSTS": ""},
        {**OIDC, "COPILOT_PASSWORDS": "emergency"},
        {**TOKENS, "COPILOT_USER_JWKS_URL": "http://127.0.0.1:8080/k"},
        {"COPILOT_USER_PROXIES": "10.0.0.7", "COPILOT_USER_EMAIL_HEADER": "X-Email"},
        {"REDIS_URL": "unix:///run/redis.sock"},
    ],
)
def test_production_accepts(monkeypatch, variables):
    load(monkeypatch, **{**PRODUCTION, **variables})


class TestKeysOfTokens:
    def test_a_shared_secret_has_its_own_algorithms(self, monkeypatch):
        rules = load(monkeypatch, **SHARED_KEY).user_tokens
        assert rules.algorithms == ("HS256",)
        assert rules.keys is not None
        assert "s" * 32 not in repr(rules)

    def test_a_public_key_and_a_key_set_are_read_at_the_start(self, monkeypatch, tmp_path):
        rules = load(monkeypatch, **{**SHARED_KEY, "COPILOT_USER_KEY": pem("one")}).user_tokens
        assert rules.algorithms == ("RS256",)
        file = tmp_path / "jwks.json"
        file.write_bytes(key_set())
        given = {**TOKENS, "COPILOT_USER_JWKS_URL": "", "COPILOT_USER_JWKS_FILE": str(file)}
        keys = load(monkeypatch, **given).user_tokens.keys
        assert keys is not None
        assert list(keys) == [("one", "RS256")]
        file.write_text("{}")
        assert "COPILOT_USER_JWKS_FILE" in reject(monkeypatch, **given)[0]


class TestSecretFiles:
    def test_the_value_has_no_line_end(self, monkeypatch, tmp_path):
        file = tmp_path / "token"
        file.write_text(f"{CANARY}\n")
        env = load(monkeypatch, COPILOT_METRICS_TOKEN_FILE=str(file))
        assert env.metrics.token.get_secret_value() == CANARY
        assert env.metrics.allows_token(f"bearer {CANARY}")

    @pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe"])
    def test_a_file_that_is_missing_empty_or_binary_is_rejected(
        self, monkeypatch, tmp_path, content
    ):
        file = tmp_path / "url"
        if content is not None:
            file.write_bytes(content)
        [line] = reject(monkeypatch, DATABASE_URL_FILE=str(file))
        assert line.startswith(f"DATABASE_URL_FILE: {file} ")

    def test_variable_and_file_together_are_rejected(self, monkeypatch, tmp_path):
        [line] = reject(monkeypatch, REDIS_URL=CANARY, REDIS_URL_FILE=str(tmp_path))
        assert line == "REDIS_URL and REDIS_URL_FILE are both set. Remove one of them."

    def test_every_secret_has_a_file(self, monkeypatch, tmp_path):
        for name, field in iter_variables(Environment):
            if is_secret(field):
                lines = reject(monkeypatch, **{f"{name}_FILE": str(tmp_path / "missing")})
                assert lines[0].startswith(f"{name}_FILE: ")


class TestDevelopmentSecrets:
    def test_are_created_once_for_their_owner(self, tmp_path):
        path = tmp_path / "keys" / "secret-key"
        assert load_or_create_secret(path, lambda: "first") == "first"
        assert load_or_create_secret(path, lambda: "second") == "first"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700

    @pytest.mark.parametrize("content", [None, b"\xff"])
    def test_a_file_that_cannot_be_read_ends_the_start(self, tmp_path, content):
        path = tmp_path / "secret-key"
        if content is None:
            path.mkdir()
        else:
            path.write_bytes(content)
        with pytest.raises(SystemExit, match="set SECRET_KEY and COPILOT_ENCRYPTION_KEYS"):
            load_or_create_secret(path, lambda: "made")


def start(code: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_wrong_variable_ends_the_process_without_a_traceback(tmp_path):
    variables = {**production_environment(str(tmp_path)), "SECRET_KEY": ""}
    ended = start("import copilot_admin.settings", **variables)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == ("SECRET_KEY is missing or weak. Set 50 random characters or more.\n")


# Reads a pickle as if it lay in Redis or in a session; unpickling it would create a file.
PICKLED = """
import json, os, pathlib, pickle, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "copilot_admin.settings"
import django
django.setup()
from channels.layers import channel_layers
from django.conf import settings
from django.core.cache import cache
from django.utils.module_loading import import_string

class Planted:
    def __reduce__(self):
        return pathlib.Path.touch, (pathlib.Path(sys.argv[1]),)

readers = [
    cache.client._serializer.loads,
    channel_layers["default"].deserialize,
    import_string(settings.SESSION_SERIALIZER)().loads,
]
for reader in readers:
    try:
        reader(pickle.dumps(Planted()))
    except Exception:
        pass
cache.set("key", 1)
print(json.dumps([settings.CACHES["default"]["LOCATION"], cache.get("key", "nothing")]))
"""


def test_redis_holds_no_pickles_and_may_be_away(tmp_path):
    variables = {**production_environment(str(tmp_path)), "REDIS_URL": "redis://127.0.0.1:1/0"}
    ended = start(PICKLED, str(tmp_path / "ran"), **variables)
    assert json.loads(ended.stdout) == ["redis://127.0.0.1:1/0", "nothing"], ended.stderr
    assert not (tmp_path / "ran").exists()
