"""POST requests to URLs of operators through the egress client."""

from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import ClientError

from copilot_admin.agent.fetching.egress import Egress, is_private
from copilot_admin.agent.fetching.tls_faults import tls_fault
from copilot_admin.errors import CopilotError

SECONDS = 10.0  # in total; receivers should defer slow work until they have answered
HEAD_BYTES = 1000  # of an answer; the rest is not read


@dataclass(frozen=True, slots=True)
class Posted:
    """Answer of the receiver.

    Attributes:
        head: The beginning of the answer: untrusted.
    """

    status: int
    head: str

    @property
    def is_accepted(self) -> bool:
        return 200 <= self.status < 300


class PostFailed(CopilotError):
    """No answer was received; the text has the reason.

    Attributes:
        is_final: A retry would fail again.
    """

    def __init__(self, public: str, *, is_final: bool = False) -> None:
        super().__init__(public)
        self.is_final = is_final


async def post(
    url: str,
    body: bytes,
    *,
    headers: Mapping[str, str],
    egress: Egress,
    seconds: float = SECONDS,
) -> Posted:
    """Post a body and read the beginning of the answer.

    Raises:
        PostFailed: The request failed, or the address is forbidden.
    """
    try:
        async with egress.request(
            "POST", url, seconds=seconds, data=body, headers=headers
        ) as response:
            head = b""
            async for part in response.content.iter_any():
                head += part
                if len(head) >= HEAD_BYTES:
                    break
            response.close()  # the rest of the body
            return Posted(response.status, head[:HEAD_BYTES].decode("utf-8", "replace"))
    except TimeoutError:
        raise PostFailed(f"No answer came within {seconds:g} seconds.") from None
    except (ClientError, OSError, ValueError) as error:
        raise _failed(error) from error


def _failed(error: Exception) -> PostFailed:
    if fault := tls_fault(error):
        return PostFailed(f"{fault.describe('the server')} Its operator should {fault.advice}.")
    if isinstance(error, ValueError):
        return PostFailed("This is no address to which something can be sent.")
    if is_private(error):
        sentence = (
            "The address leads into a private network, to which nothing is sent unless "
            "COPILOT_FETCH_ALLOW names it."
        )
        return PostFailed(sentence, is_final=True)
    return PostFailed("The server could not be reached, or broke off.")
