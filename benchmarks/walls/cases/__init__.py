"""The classes of attacks: each file has a `send`, which draws its cases and sends them."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeAlias

from benchmarks.processes import Process
from benchmarks.proxy import Proxy
from benchmarks.servers import POSTGRES, Deployment, Installation
from benchmarks.walls.arena import Arena
from benchmarks.walls.cases import (
    bodies,
    bursts,
    clients,
    collectors,
    database,
    files,
    forms,
    heavy,
    histories,
    html,
    imports,
    journal,
    lists,
    models,
    people,
    readers,
    restart,
    size,
    sockets,
    texts,
    threading,
    tools,
    unfinished,
)

# What gives a class a server of its own: it is told of the port of the server of strangers.
Stage: TypeAlias = Callable[
    [Installation, int], AbstractContextManager[tuple[Process, Proxy | None]]
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wall:
    """A class of attacks.

    Attributes:
        may_be_refused: The bystander too, as what answers stand on is taken away.
        prepare: What goes before it, unseen by the bystander.
        stage: A server of its own, with what it needs besides; None: the one of all.
        needs: What the deployment must have, in words; empty: nothing.
    """

    name: str
    send: Callable[[Arena], Awaitable[None]]
    prepare: Callable[[Arena], Awaitable[None]] | None = None
    may_be_refused: bool = False
    stage: Stage | None = None
    needs: str = ""

    def fits(self, deployment: Deployment) -> bool:
        """Whether it can be sent at such a server."""
        match self.needs:
            case "PostgreSQL":
                return deployment.database == POSTGRES
            case "two workers":
                return deployment.workers > 1
        return True


WALLS = (
    Wall(name="files", send=files.send),
    Wall(name="bodies", send=bodies.send),
    Wall(name="histories", send=histories.send),
    Wall(name="models", send=models.send),
    Wall(name="clients", send=clients.send),
    Wall(name="journal", send=journal.send, may_be_refused=True),
    Wall(
        name="database",
        send=database.send,
        may_be_refused=True,
        stage=database.stage,
        needs="PostgreSQL",
    ),
    Wall(name="size", prepare=size.prepare, send=size.send),
    Wall(name="threading", send=threading.send),
    Wall(name="people", send=people.send),
    Wall(name="restart", send=restart.send, needs="two workers"),
    Wall(name="texts", send=texts.send),
    Wall(name="html", send=html.send),
    Wall(name="unfinished", send=unfinished.send),
    Wall(name="bursts", send=bursts.send),
    Wall(name="readers", send=readers.send),
    Wall(name="forms", send=forms.send),
    Wall(name="heavy", send=heavy.send),
    Wall(name="lists", send=lists.send),
    Wall(name="tools", send=tools.send),
    Wall(name="sockets", send=sockets.send),
    Wall(name="imports", send=imports.send),
    Wall(name="collectors", send=collectors.send, stage=collectors.stage, needs="PostgreSQL"),
)
