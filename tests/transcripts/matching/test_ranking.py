"""Which of several conversations a request continues is told by its answers alone."""

from typing import Any

import pytest

from copilot_admin.transcripts.matching.chain import PUBLIC_KEY, Chain, Link
from copilot_admin.transcripts.matching.ranking import most_alike
from copilot_admin.transcripts.matching.tree import Seen
from protocol.canonical import CanonicalRole, Kind
from protocol.messages import AiMessage, HumanMessage

CHAIN = Chain(key=PUBLIC_KEY, copilot_id=1, principal="anonymous")
TOLD = "The price of oil fell to 71."
LINKS = CHAIN.links([HumanMessage("Why?"), AiMessage(TOLD), HumanMessage("And now?")])


def stored(conversation: int, text: str, *, to: Link = LINKS[1], **more: Any) -> Seen:
    """An answer to what was asked before a message."""
    written = {"role": CanonicalRole.AI, "kind": Kind.TEXT, "client_hash": to.client_hash, **more}
    return Seen(
        id=1, conversation_id=conversation, parent_id=None, depth=1,
        chain_hash="", from_history=False, text=text, **written,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("answers", "complete", "found"),
    [
        ([], True, None),
        ([stored(7, "Nothing like it")], True, 7),
        ([stored(7, "Nothing like it")], False, None),
        ([stored(7, TOLD[:20])], False, None),
        ([stored(7, f"**{TOLD}**")], False, 7),
        ([stored(7, "Nothing like it"), stored(8, TOLD)], True, 8),
        ([stored(7, TOLD), stored(8, "Nothing like it")], True, 7),
        ([stored(7, "qqqq jjjj"), stored(8, "xxxx zzzz")], True, None),
        ([stored(7, TOLD), stored(8, TOLD)], True, None),
        # The best of the answers to one question counts, and not how many there are.
        ([stored(7, TOLD[:12]), stored(7, TOLD[:12]), stored(8, TOLD)], True, 8),
        ([stored(7, "xxxx zzzz"), stored(7, TOLD), stored(8, TOLD[:20])], True, 7),
        # A call is no answer, and neither is one to a question that was not asked.
        ([stored(7, TOLD, kind=Kind.CALL), stored(8, TOLD[:20])], True, 8),
        ([stored(7, TOLD, role=CanonicalRole.HUMAN), stored(8, TOLD[:20])], True, 8),
        ([stored(7, TOLD, client_hash="another"), stored(8, TOLD[:20])], True, 8),
    ],
)
def test_the_conversation_with_the_answers_that_came_back_is_taken_if_that_is_clear(
    answers, complete, found
):
    assert most_alike(answers, LINKS, complete=complete) == found


def test_the_same_letters_count_as_much_as_one_answer_more_that_is_alike():
    words = ["It fell to 71.", "Then it rose to 72.", "It stays at 73."]
    messages = [HumanMessage("Why?")]
    for word in words:
        messages += [AiMessage(word), HumanMessage("And now?")]
    answers = [link for link in CHAIN.links(messages) if isinstance(link.message, AiMessage)]
    same_once = [stored(7, words[0], to=answers[0])]
    alike = [stored(8, f"{said} So.", to=to) for said, to in zip(words, answers, strict=True)]
    links = CHAIN.links(messages)
    assert most_alike([*same_once, *alike], links, complete=True) == 8
    assert most_alike([*same_once, *alike[:1]], links, complete=True) == 7


def test_histories_of_other_copilots_callers_and_users_have_nothing_in_common():
    chains = [
        CHAIN,
        Chain(key=PUBLIC_KEY, copilot_id=2, principal="anonymous"),
        Chain(key=PUBLIC_KEY, copilot_id=1, principal="key:1"),
        Chain(key=PUBLIC_KEY, copilot_id=1, principal="anonymous", user="ada"),
        Chain(key=PUBLIC_KEY, copilot_id=1, principal="anonymous", user="eve"),
        Chain(key=b"another", copilot_id=1, principal="anonymous"),
    ]
    assert len({chain.root for chain in chains}) == len(chains)
    assert Chain(key=PUBLIC_KEY, copilot_id=1, principal="anonymous", user="").root == CHAIN.root
