"""What PostgreSQL, or PgBouncer, says to who may not connect: a wrong password, a database that is none.

The pool only says that it got no connection.
"""

from django.db import connection

from copilot_admin.config.logs import without_secrets

# Before what the other side says; what stands before it is said by the library, and quotes the address.
_SAID = "FATAL:"
# Before the library's own words.
_FAILED = "failed: "
MOST_CHARACTERS = 200


def refusal_of_connections() -> str:
    """What is said to one more try, in one line; empty where it is let in, or nobody answers."""
    import psycopg  # a server with SQLite does without

    try:
        psycopg.connect(**connection.get_connection_params()).close()
    except psycopg.Error as error:
        return _said_in(str(error))
    return ""


def _said_in(text: str) -> str:
    """The words of the other side; they name the user and the database, and never the password.

    Examples:
        >>> _said_in('server at "10.0.0.1" failed: FATAL:  role "ann" does not exist')
        'role "ann" does not exist'
        >>> _said_in('server at "10.0.0.1" failed: SSL error: certificate verify failed')
        'SSL error: certificate verify failed'
    """
    words = text.partition(_SAID)[2].strip().partition("\n")[0]
    words = words or _said_of_tls(text)
    readable = "".join(one for one in words[:MOST_CHARACTERS] if one.isprintable())
    return without_secrets(readable).strip().rstrip(".")


def _said_of_tls(text: str) -> str:
    """The words of the library where no encrypted connection comes about."""
    lines = (line.rpartition(_FAILED)[2] for line in text.splitlines() if _FAILED in line)
    return next((one for one in lines if "SSL" in one or "certificate" in one), "")
