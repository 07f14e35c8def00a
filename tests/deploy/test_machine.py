"""A server of a test that does not do what it should says why."""

from pathlib import Path

import pytest

from benchmarks.processes import free_port
from tests.deploy.machine import Server

FAILS = "import sys\nprint('out', flush=True)\nsys.exit('no such table')\n"


@pytest.mark.parametrize("wanted", ["wait_until_ready", "stop"])
def test_what_a_server_said_is_told_where_it_ends(tmp_path: Path, wanted: str):
    (tmp_path / "manage.py").write_text(FAILS)
    server = Server({}, free_port(), code=tmp_path)
    server.process.wait()
    with pytest.raises(AssertionError, match=r"the server ended.*: out\nno such table"):
        getattr(server, wanted)()
