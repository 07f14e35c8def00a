"""Who may say which user asks: the settings for tokens and for trusted proxies."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from copilot_admin.config.addresses import parts_of
from copilot_admin.config.env import BadSetting, Environment
from copilot_admin.config.key_sets import PUBLIC, SHARED, KeySet, NoKeys, read_key, read_key_set
from copilot_admin.config.networks import Network, networks

SHORTEST_SECRET = 32  # bytes: RFC 7518, 3.2, of HS256
_HERE = ("localhost", "127.0.0.1", "::1")
_PEM = "-----BEGIN"
_KEY_SETTINGS = "COPILOT_USER_JWKS_URL, COPILOT_USER_JWKS_FILE or COPILOT_USER_KEY"


class Naming(StrEnum):
    """How others are told of a user: providers of models, the log, traces."""

    NONE = "none"
    HASHED = "hashed"  # always the same for a user, and nobody without the key says of whom
    PLAIN = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRules:
    """What a token has to be.

    Attributes:
        keys: Those that are known for good; None: they are fetched.
        address: Of the key set that is fetched.
        header: Where tokens come besides `Authorization: Bearer`, in lower case; "": nowhere.
        id_claims: Names of the user; the first that a token has counts.
        opens: A token is as good as an endpoint key.
    """

    algorithms: tuple[str, ...]
    issuer: str
    audiences: tuple[str, ...]
    leeway: float
    keys: KeySet | None = field(default=None, repr=False)
    address: str = ""
    header: str = ""
    id_claims: tuple[str, ...] = ("sub",)
    email_claims: tuple[str, ...] = ("email",)
    name_claims: tuple[str, ...] = ("name",)
    opens: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyRules:
    """Which headers name a user, in lower case, and which proxies may set them."""

    networks: tuple[Network, ...] = ()
    id_header: str = ""
    email_header: str = ""
    name_header: str = ""

    @property
    def headers(self) -> tuple[str, ...]:
        """The headers that only a proxy may set."""
        return tuple(filter(None, (self.id_header, self.email_header, self.name_header)))


def proxy_rules(env: Environment, *, production: bool = False) -> ProxyRules:
    """What the environment says of proxies.

    Raises:
        BadSetting: A proxy is named by no address, or is trusted with no header; or in production
            everybody is a proxy.
    """
    rules = ProxyRules(
        networks=networks(
            env.items("COPILOT_USER_PROXIES"), setting="COPILOT_USER_PROXIES", production=production
        ),
        id_header=_header("COPILOT_USER_ID_HEADER", env.text("COPILOT_USER_ID_HEADER")),
        email_header=_header("COPILOT_USER_EMAIL_HEADER", env.text("COPILOT_USER_EMAIL_HEADER")),
        name_header=_header("COPILOT_USER_NAME_HEADER", env.text("COPILOT_USER_NAME_HEADER")),
    )
    if rules.networks and not (rules.id_header or rules.email_header):
        raise BadSetting(
            "COPILOT_USER_PROXIES names proxies, but no header in which they name the user. Set "
            "COPILOT_USER_ID_HEADER or COPILOT_USER_EMAIL_HEADER."
        )
    return rules


def token_rules(env: Environment, *, production: bool) -> TokenRules | None:
    """What the environment says of tokens; None: none are taken.

    Raises:
        BadSetting: Something is missing, wrong or unsafe.
    """
    address, file = env.text("COPILOT_USER_JWKS_URL"), env.text("COPILOT_USER_JWKS_FILE")
    key = env.secret("COPILOT_USER_KEY")
    given = [one for one in (address, file, key) if one]
    # Read before it is known whether they count: a wrong value is told, not kept for later.
    leeway = env.number("COPILOT_USER_LEEWAY_S", default=30, minimum=0, maximum=600)
    header = _header("COPILOT_USER_TOKEN_HEADER", env.text("COPILOT_USER_TOKEN_HEADER"))
    opens = env.flag("COPILOT_USER_TOKENS_OPEN")
    if not given:
        if env.text("COPILOT_USER_ISSUER") or env.text("COPILOT_USER_AUDIENCE"):
            raise BadSetting(f"There is no key to check tokens with. Set {_KEY_SETTINGS}.")
        return None
    if len(given) > 1:
        raise BadSetting(
            f"Tokens are checked with one key or key set. Keep one of {_KEY_SETTINGS}."
        )
    algorithms = _algorithms(env, is_shared=bool(key) and _PEM not in key)
    return TokenRules(
        algorithms=algorithms,
        issuer=_required("COPILOT_USER_ISSUER", env.text("COPILOT_USER_ISSUER")),
        audiences=_audiences(env),
        leeway=leeway,
        keys=_keys(file=file, key=key, algorithms=algorithms),
        address=_address(address, production=production),
        header=header,
        id_claims=env.items("COPILOT_USER_ID_CLAIM", default=("sub",)),
        email_claims=env.items("COPILOT_USER_EMAIL_CLAIM", default=("email",)),
        name_claims=env.items("COPILOT_USER_NAME_CLAIM", default=("name",)),
        opens=opens,
    )


def check_required(*, required: bool, tokens: TokenRules | None, proxies: ProxyRules) -> bool:
    """Whether a user is required, if anybody can name one.

    Raises:
        BadSetting: Nobody can, so that every question would be refused.
    """
    if required and tokens is None and not proxies.networks:
        raise BadSetting(
            "COPILOT_USER_REQUIRED is on, but nobody may name a user. Set COPILOT_USER_PROXIES, "
            f"or {_KEY_SETTINGS}."
        )
    return required


def _algorithms(env: Environment, *, is_shared: bool) -> tuple[str, ...]:
    """The allow-list; a shared secret and public keys never share one (RFC 8725, 3.1)."""
    chosen = env.items("COPILOT_USER_ALGORITHMS", default=("HS256",) if is_shared else ("RS256",))
    possible = SHARED if is_shared else PUBLIC
    wrong = [one for one in chosen if one not in possible]
    if not wrong:
        return chosen
    what = "a shared secret" if is_shared else "public keys"
    raise BadSetting(
        f"COPILOT_USER_ALGORITHMS names {wrong[0]!r}, which is not for {what}. Use some of "
        f"{', '.join(possible)}."
    )


def _keys(*, file: str, key: str, algorithms: tuple[str, ...]) -> KeySet | None:
    try:
        if file:
            return read_key_set(Path(file).read_bytes(), algorithms)
        if key:
            return _one_key(key, algorithms)
    except OSError as error:
        raise BadSetting(
            f"COPILOT_USER_JWKS_FILE names {file}, which cannot be read: {error.strerror}."
        ) from None
    except NoKeys as error:
        name = "COPILOT_USER_JWKS_FILE" if file else "COPILOT_USER_KEY"
        raise BadSetting(f"{name}: {error}") from None
    return None


def _one_key(key: str, algorithms: tuple[str, ...]) -> KeySet:
    if "PRIVATE KEY" in key:
        raise NoKeys("It is a private key. Use the public one, which tokens are checked with.")
    if _PEM not in key and len(key.encode()) < SHORTEST_SECRET:
        raise NoKeys(f"It is shorter than {SHORTEST_SECRET} bytes. Use a longer one.")
    return read_key(key, algorithms)


def _address(text: str, *, production: bool) -> str:
    """The address of the key set: whoever can change what comes from there can be anybody."""
    if not text:
        return ""
    parts = parts_of(text)
    if not parts.hostname or parts.scheme not in ("http", "https"):
        raise BadSetting("COPILOT_USER_JWKS_URL is no web address. Use https://…/jwks.json.")
    if production and parts.scheme != "https" and parts.hostname not in _HERE:
        raise BadSetting(
            "COPILOT_USER_JWKS_URL is not https: who changes the keys on their way can be anybody."
        )
    return text


def _audiences(env: Environment) -> tuple[str, ...]:
    _required("COPILOT_USER_AUDIENCE", env.text("COPILOT_USER_AUDIENCE"))
    return env.items("COPILOT_USER_AUDIENCE")


def _required(name: str, text: str) -> str:
    if not text.strip(" ,"):
        raise BadSetting(
            f"{name} is missing: a token made for somebody else would be taken. Set it to what "
            "your tokens have."
        )
    return text


def _header(name: str, given: str) -> str:
    """The name of a header, in lower case and with dashes, as servers hand headers on."""
    text = given.lower().replace("_", "-")
    if text and not all(one.isascii() and (one.isalnum() or one == "-") for one in text):
        raise BadSetting(f"{name} is {text!r}, which is no name of a header.")
    if text in ("authorization", "x-api-key", "cookie", "host"):
        raise BadSetting(f"{name} is {text!r}, which has another meaning. Use another header.")
    return text
