"""How mail leaves the server, as the environment says it."""

from dataclasses import dataclass, field
from email.utils import parseaddr
from enum import StrEnum

from copilot_admin.config.env import BadSetting, Environment

SENDS = "django.core.mail.backends.smtp.EmailBackend"
DROPS = "django.core.mail.backends.dummy.EmailBackend"


class MailSecurity(StrEnum):
    """How the connection to the mail server is kept private."""

    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"


# https://www.rfc-editor.org/rfc/rfc8314#section-7.3; without encryption a relay of the own network
PORTS = {MailSecurity.STARTTLS: 587, MailSecurity.TLS: 465, MailSecurity.NONE: 25}


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServer:
    """The server that takes mail.

    Attributes:
        host: Empty: no mail is sent.
        user: Empty: it asks for no log-in.
        sender: Whom mail comes from: an address, or `Name <address>`.
    """

    host: str = ""
    port: int = PORTS[MailSecurity.STARTTLS]
    user: str = ""
    password: str = field(default="", repr=False)
    security: MailSecurity = MailSecurity.STARTTLS
    sender: str = ""

    @property
    def is_there(self) -> bool:
        """Whether mail is sent at all."""
        return bool(self.host)

    @property
    def backend(self) -> str:
        """What Django sends mail with."""
        return SENDS if self.is_there else DROPS


def mail_server(env: Environment) -> MailServer:
    """The mail server, if there is one.

    Raises:
        BadSetting: Half of it is missing, or contradicts the rest.
    """
    security = env.choice("EMAIL_SECURITY", MailSecurity, default=MailSecurity.STARTTLS)
    server = MailServer(
        host=env.text("EMAIL_HOST"),
        port=env.whole_number("EMAIL_PORT", default=PORTS[security], minimum=1, maximum=65535),
        user=env.text("EMAIL_HOST_USER"),
        password=env.secret("EMAIL_HOST_PASSWORD"),
        security=security,
        sender=env.text("EMAIL_FROM"),
    )
    _check(server)
    return server


def _check(server: MailServer) -> None:
    if not server.is_there:
        for name, value in (("EMAIL_FROM", server.sender), ("EMAIL_HOST_USER", server.user)):
            if value:
                raise BadSetting(f"{name} is set without EMAIL_HOST. Name the mail server.")
        return
    if "@" not in parseaddr(server.sender)[1]:
        raise BadSetting(
            "EMAIL_FROM is missing or no address. Use copilots@example.com, which mail comes from."
        )
    if bool(server.user) != bool(server.password):
        raise BadSetting("EMAIL_HOST_USER and EMAIL_HOST_PASSWORD belong together. Set both.")
    if server.user and server.security is MailSecurity.NONE:
        raise BadSetting(
            "EMAIL_SECURITY is none: the password would be sent readable. Use starttls or tls."
        )
