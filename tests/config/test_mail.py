"""What the environment says of the mail server."""

import pytest

from copilot_admin.config.env import BadSetting, Environment
from copilot_admin.config.mail import MailSecurity, MailServer, mail_server

SET_UP = {"EMAIL_HOST": "mail.example.com", "EMAIL_FROM": "Copilots <copilots@example.com>"}
LOGGED_IN = {**SET_UP, "EMAIL_HOST_USER": "copilots", "EMAIL_HOST_PASSWORD": "secret"}


def test_without_a_host_no_mail_is_sent():
    server = mail_server(Environment({}))
    assert (server.is_there, server.backend) == (
        False,
        "django.core.mail.backends.dummy.EmailBackend",
    )


@pytest.mark.parametrize(
    ("security", "port"),
    [
        (MailSecurity.STARTTLS, 587),
        (MailSecurity.TLS, 465),
    ],
)
def test_each_security_has_its_port(security, port):
    server = mail_server(Environment({**LOGGED_IN, "EMAIL_SECURITY": security}))
    assert server == MailServer(
        host="mail.example.com",
        port=port,
        user="copilots",
        password="secret",
        security=security,
        sender="Copilots <copilots@example.com>",
    )
    assert server.backend == "django.core.mail.backends.smtp.EmailBackend"
    assert "secret" not in repr(server)


def test_a_relay_of_the_own_network_needs_no_more_than_its_name():
    server = mail_server(Environment({**SET_UP, "EMAIL_SECURITY": "none"}))
    assert (server.port, server.user) == (25, "")
    assert mail_server(Environment({**SET_UP, "EMAIL_PORT": "2525"})).port == 2525


@pytest.mark.parametrize(
    ("variables", "line"),
    [
        (
            {"EMAIL_FROM": "a@example.com"},
            "EMAIL_FROM is set without EMAIL_HOST. Name the mail server.",
        ),
        (
            {"EMAIL_HOST_USER": "a"},
            "EMAIL_HOST_USER is set without EMAIL_HOST. Name the mail server.",
        ),
        (
            {"EMAIL_HOST": "h"},
            "EMAIL_FROM is missing or no address. Use copilots@example.com, which mail comes from.",
        ),
        (
            {**SET_UP, "EMAIL_FROM": "Copilots"},
            "EMAIL_FROM is missing or no address. Use copilots@example.com, which mail comes from.",
        ),
        (
            {**SET_UP, "EMAIL_HOST_USER": "a"},
            "EMAIL_HOST_USER and EMAIL_HOST_PASSWORD belong together. Set both.",
        ),
        (
            {**LOGGED_IN, "EMAIL_SECURITY": "none"},
            "EMAIL_SECURITY is none: the password would be sent readable. Use starttls or tls.",
        ),
        (
            {**SET_UP, "EMAIL_SECURITY": "ssl"},
            "EMAIL_SECURITY is 'ssl'. Use starttls or tls or none.",
        ),
        ({**SET_UP, "EMAIL_PORT": "0"}, "EMAIL_PORT is '0'. Use a number from 1 to 65535."),
        (
            {**SET_UP, "EMAIL_PORT": "2.5"},
            "EMAIL_PORT is '2.5'. Use a whole number from 1 to 65535.",
        ),
    ],
)
def test_half_a_mail_server_is_refused_in_one_line(variables, line):
    with pytest.raises(BadSetting) as caught:
        mail_server(Environment(variables))
    assert caught.value.sentence == line
