"""Whose the rows and the transcripts are."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
import json

from benchmarks.canaries import canaries_in, canary_of
from benchmarks.servers import Installation
from benchmarks.users.checks import Check, same_users
from benchmarks.users.crowd import Asked

_USER = "JOIN copilot_admin_enduser asking ON asking.id = talk.user_id"
_TALK = f"copilot_admin_conversation talk {_USER}"
# All that hangs on a conversation, each with its user before it.
_OF_USERS = (
    f"SELECT identifier, talk.* FROM {_TALK} ORDER BY talk.id",  # noqa: S608  # names of ours
    *(
        f"SELECT identifier, hanging.* FROM {_TALK} "  # noqa: S608  # names of ours
        f"JOIN copilot_admin_{name} hanging ON hanging.conversation_id = talk.id ORDER BY {order}"
        for name, order in (
            ("node", "hanging.id"),
            ("turn", "hanging.id"),
            ("run", "hanging.id"),
            ("turntext", "hanging.turn_id"),
        )
    ),
    f"SELECT identifier, talk.* FROM copilot_admin_run talk {_USER} "  # noqa: S608  # names of ours
    "WHERE conversation_id IS NULL ORDER BY talk.id",
)


def whose(installed: Installation, asked: Sequence[Asked]) -> Iterator[Check]:
    """Whether each user has his conversations, all of them, and nothing of anybody else."""
    let_in = [one for one in asked if one.status == 200]
    chats = {(one.person.id, one.chat) for one in let_in}
    rows = installed.query(
        f"SELECT identifier, COUNT(*), SUM(n_turns) FROM {_TALK} GROUP BY 1"  # noqa: S608  # names of ours
    )
    talks = {str(user): int(str(number)) for user, number, _ in rows}
    turns = {str(user): int(str(number)) for user, _, number in rows}
    yield same_users(
        "users with as many conversations as chats", Counter(u for u, _ in chats), talks
    )
    yield same_users(
        "users with as many turns as answers", Counter(one.person.id for one in let_in), turns
    )
    yield Check(what="conversations", wanted=len(chats), found=sum(talks.values()))
    found = {
        str(run).replace("-", ""): (str(user), str(his))
        for run, user, his in installed.query(
            "SELECT run.id, asking.identifier, his.identifier FROM copilot_admin_run run "
            "JOIN copilot_admin_enduser asking ON asking.id = run.user_id "
            "JOIN copilot_admin_conversation talk ON talk.id = run.conversation_id "
            "JOIN copilot_admin_enduser his ON his.id = talk.user_id"
        )
    }
    yield Check(
        what="answers whose row and conversation are of who asked",
        wanted=len(let_in),
        found=sum(found.get(one.run) == (one.person.id,) * 2 for one in let_in),
    )
    nodes = installed.query(
        f"SELECT identifier, node.text, talk.title, looked.text FROM {_TALK} "  # noqa: S608  # names of ours
        "JOIN copilot_admin_node node ON node.conversation_id = talk.id "
        "LEFT JOIN copilot_admin_turn turn ON turn.human_node_id = node.id "
        "LEFT JOIN copilot_admin_turntext looked ON looked.turn_id = turn.id"
    )
    texts = ((str(user), "".join(map(str, texts)).encode()) for user, *texts in nodes)
    yield Check(what="messages with the words of another user", wanted=0, found=foreign(texts))


def foreign(texts: Iterable[tuple[str, bytes]]) -> int:
    """How many texts have the words of another than the user beside them."""
    return sum(bool(canaries_in(text) - {canary_of(user)}) for user, text in texts)


def transcripts(installed: Installation) -> dict[int, tuple[str, str]]:
    """Every conversation as an export has it, with its user."""
    lines: defaultdict[int, list[str]] = defaultdict(list)
    users = {}
    export = installed.manage("transcripts", "export", "--format", "jsonl", "--output", "-")
    for line in export.splitlines():
        about = json.loads(line)["metadata"]
        lines[about["conversation"]].append(line)
        users[about["conversation"]] = (about["user"] or {"id": ""})["id"]
    return {talk: (users[talk], "\n".join(some)) for talk, some in lines.items()}


def told(exported: Mapping[int, tuple[str, str]], asked: Sequence[Asked]) -> Iterator[Check]:
    """Whether transcripts have every chat, and nothing of anybody else."""
    chats = Counter(
        user for user, _ in {(one.person.id, one.chat) for one in asked if one.status == 200}
    )
    yield same_users(
        "users with as many transcripts as chats", chats, Counter(u for u, _ in exported.values())
    )
    texts = ((user, text.encode()) for user, text in exported.values())
    yield Check(what="transcripts with the words of another user", wanted=0, found=foreign(texts))


def prints(installed: Installation) -> dict[str, str]:
    """Of each user a digest of all rows that are his."""
    digests: defaultdict[str, blake2b] = defaultdict(lambda: blake2b(digest_size=16))
    for sql in _OF_USERS:
        for user, *row in installed.query(sql):
            digests[str(user)].update(repr(row).encode())
    return {user: digest.hexdigest() for user, digest in digests.items()}
