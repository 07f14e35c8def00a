"""Applications that do not start, each in its way."""

from copilot_admin.asgi import with_lifespan
from copilot_admin.errors import ConfigurationError
from copilot_admin.http.scope import Receive, Scope, Send


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    raise AssertionError("no request comes")


async def _refuse() -> None:
    raise ConfigurationError("The database is broken.")


async def _break() -> None:
    raise KeyError("a bug")


async def _stop() -> None:
    raise AssertionError("what did not start is not stopped")


refuses = with_lifespan(_nothing, start=_refuse, stop=_stop)
breaks = with_lifespan(_nothing, start=_break, stop=_stop)
