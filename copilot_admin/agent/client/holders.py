"""Says for whom what travels through the client is sealed: which copilot, caller and chat."""

from hashlib import blake2b

from copilot_admin.agent.client.extra_state import Holder
from copilot_admin.agent.values.engine_input import EngineInput
from protocol.canonical import canonical


def holders(engine_input: EngineInput) -> tuple[Holder, ...]:
    """Whose tokens a request may bring back; what it is given is sealed for the first.

    The chat is the trace id that the client gave. One that gave none has another with every request,
    so there it is the question, which stays the same until the turn is answered. A client that
    takes over the trace id of the first answer brings back a token that was sealed for the question.
    """
    question = engine_input.query.question
    words = canonical(question) if question is not None else b""
    chats = [f"question {blake2b(words, digest_size=16).hexdigest()}"]
    if engine_input.chat_id is not None:
        chats.insert(0, f"trace {engine_input.chat_id}")
    slug, principal = engine_input.spec.slug, engine_input.principal
    if engine_input.user_id:
        principal += f"\n{engine_input.user_id}"  # one key may have many users
    return tuple(Holder(slug=slug, principal=principal, chat=chat) for chat in chats)
