"""Nothing is said to be kept that is not, whatever is taken away from a server; nothing is timed."""

from collections.abc import Callable, Iterator

import pytest

from benchmarks import keeping
from benchmarks.keeping import Seen, damaged_file, database_away, full_disk, held_lock


@pytest.mark.nightly
@pytest.mark.parametrize(
    "scene",
    [full_disk, held_lock, damaged_file, pytest.param(database_away, marks=pytest.mark.postgres)],
)
def test_what_clients_hear_is_what_is_kept(scene: Callable[[], Iterator[Seen]]):
    seen = list(scene())
    assert [one.what for one in seen if not one.kept] == []


@pytest.mark.parametrize(
    ("seconds", "kept", "passed"), [(5.0, True, True), (5.1, True, False), (0.0, False, False)]
)
def test_the_program_says_what_it_saw(monkeypatch, capsys, seconds, kept, passed):
    monkeypatch.setattr(keeping, "SCENES", (lambda: [Seen("a page", seconds, kept, 5.0)],))
    assert keeping.main([]) == int(not passed)
    assert capsys.readouterr().out.splitlines()[-1].startswith("PASS" if passed else "FAIL")
