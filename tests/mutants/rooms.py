"""Which rooms of the product are tried, by which tests, and the changes that are always tried."""

from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutation import Mutation
from tests.mutants.source import Edit

BY_HAND = "by hand"


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Files of the product, and the tests that should notice when one of them is changed.

    Attributes:
        sources: Folders or files below the root.
        tests: Folders or files below the root.
    """

    name: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]

    def files(self, root: Path) -> list[Path]:
        """The sources, one by one."""
        paths = [root / one for one in self.sources]
        return [one for path in paths for one in sorted(path.rglob("*.py")) or [path]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ByHand:
    """A change that no test once noticed; `old` stands once in the file."""

    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def task(self, root: Path) -> tuple[Room, Mutation]:
        """The change, found in its file, and a room that is only that file.

        Raises:
            ValueError: The file does not say `old` exactly once.
        """
        text, old = (root / self.file).read_bytes(), self.old.encode()
        if text.count(old) != 1:
            raise ValueError(f"{self.file} does not say {self.old!r} exactly once")
        start = text.index(old)
        line = text.count(b"\n", 0, start) + 1
        mutation = Mutation(
            file=self.file,
            line=line,
            lines=range(line, line + old.count(b"\n") + 1),
            operator=BY_HAND,
            edit=Edit(start, start + len(old), self.new),
        )
        return Room(name=BY_HAND, sources=(self.file,), tests=self.tests), mutation


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """What is tried.

    Attributes:
        packages: All code of the product; enumerations are looked up in it.
        settings: The Django settings of the tests; "" where there are none.
        preloaded: Modules of others that every test process needs, imported once for all.
    """

    packages: tuple[str, ...]
    rooms: tuple[Room, ...]
    by_hand: tuple[ByHand, ...] = ()
    settings: str = ""
    preloaded: tuple[str, ...] = ()


_ROOMS = (
    Room(name="protocol", sources=("protocol",), tests=("tests/protocol",)),
    Room(
        name="journal",
        sources=("copilot_admin/transcripts/store",),
        tests=("tests/transcripts/store",),
    ),
    Room(
        name="threads",
        sources=("copilot_admin/transcripts/matching",),
        tests=("tests/transcripts/matching",),
    ),
    Room(
        name="answering",
        sources=("copilot_admin/runs",),
        tests=(
            "tests/runs",
            "tests/api/test_limits.py",
            "tests/api/test_query.py",
            "tests/api/test_told_refusals.py",
            "tests/server",
        ),
    ),
    Room(name="edge", sources=("copilot_admin/http",), tests=("tests/http",)),
)
_BY_HAND = (
    ByHand(
        file="copilot_admin/storage/writer.py",
        old="            _settle(batch)",
        new="            _settled_together(batch) or "
        "[self._schedule(lambda one=one: _settle_alone(one)) for one in batch]",
        tests=("tests/storage/test_writer.py",),
    ),
    ByHand(
        file="copilot_admin/server/shutdown.py",
        old="elif not _is_worker():",
        new="elif False:",
        tests=("tests/server/test_server.py",),
    ),
    ByHand(
        file="copilot_admin/copilots/live.py",
        old="changed = (changed_at, *map(",
        new="changed = (None, *map(",
        tests=("tests/copilots/test_switched_providers.py",),
    ),
    ByHand(
        file="copilot_admin/runs/speaker.py",
        old="MERGE_SECONDS = 0.02",
        new="MERGE_SECONDS = 0.4",
        tests=("tests/runs/test_speaker.py",),
    ),
    ByHand(
        file="copilot_admin/agent/fetching/addresses.py",
        old="address.is_global and not address.is_multicast",
        new="address.is_global",
        tests=("tests/agent/fetching/test_egress.py",),
    ),
)
COPILOT_ADMIN = Product(
    packages=("protocol", "copilot_admin"),
    rooms=_ROOMS,
    by_hand=_BY_HAND,
    settings="tests.settings",
    preloaded=(
        *("aiohttp", "django.contrib.admin", "django.test", "hypothesis", "jsonschema", "openai"),
        *("PIL.Image", "pydantic", "pytest", "redis.asyncio", "uvicorn"),
    ),
)
