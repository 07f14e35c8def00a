"""Every module says in one line what it is for, and no two say the same."""

from collections import Counter
from pathlib import Path

from copilot_admin.settings import BASE_DIR

ROOMS = ("copilot_admin", "protocol", "tests", "benchmarks")


def first_lines() -> dict[Path, str]:
    """Of all modules that hold anything; what a migration does is in its name."""
    found = {}
    for path in (path for room in ROOMS for path in sorted((BASE_DIR / room).rglob("*.py"))):
        with path.open() as lines:
            line = lines.readline().strip()
        if path.parent.name != "migrations" and (line or path.stat().st_size):
            found[path.relative_to(BASE_DIR)] = line
    return found


def says_what_it_is_for(line: str) -> bool:
    return line.startswith('"""') and line.removesuffix('"""').endswith((".", "?"))


def test_every_module_says_what_it_is_for():
    lines = first_lines()
    assert [path for path, line in lines.items() if not says_what_it_is_for(line)] == []
    assert [line for line, times in Counter(lines.values()).items() if times > 1] == []
