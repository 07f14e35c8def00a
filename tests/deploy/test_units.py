"""The units for systemd start what there is, wait for the drain, and can do little."""

from pathlib import Path
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from copilot_admin.server.serve import SHUTDOWN_MARGIN_SECONDS
from copilot_admin.settings import BASE_DIR, DRAIN_SECONDS
from tests.deploy.test_container import OTHER_VARIABLES, parsed
from tests.docs.test_settings import ROWS, SECRETS

UNITS = sorted((BASE_DIR / "deploy" / "systemd").iterdir())
SERVICES = [path for path in UNITS if path.suffix == ".service"]
ROOT = "/opt/copilot-admin"
MAX_EXPOSED = 2.0  # of systemd's own scale up to 10
ANALYZE = pytest.mark.skipif(
    not shutil.which("systemd-analyze"), reason="systemd is missing: install the package 'systemd'"
)


def values(unit: Path, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", unit.read_text(), re.MULTILINE)


@pytest.mark.parametrize("unit", SERVICES, ids=lambda path: path.stem)
class TestEveryService:
    def test_its_commands_are_understood(self, unit):
        lines = [*values(unit, "ExecStartPre"), *values(unit, "ExecStart")]
        for line in lines:
            _, _, rest = line.partition("manage.py ")
            assert parsed(shlex.split(rest.removesuffix("'")))

    def test_its_variables_are_settings_and_secrets_are_credentials(self, unit):
        given = [word for line in values(unit, "Environment") for word in line.split()]
        names = {word.partition("=")[0] for word in given}
        assert names - OTHER_VARIABLES <= set(ROWS) | {f"{one}_FILE" for one in SECRETS}
        files = {word.partition("=%d/")[2] for word in given if "_FILE=" in word}
        assert files == {line.partition(":")[0] for line in values(unit, "LoadCredential")}

    @ANALYZE
    def test_systemd_finds_nothing_wrong_and_little_exposed(self, unit, tmp_path):
        here = tmp_path / unit.name
        python = f"{ROOT}/.venv/bin/python"
        here.write_text(unit.read_text().replace(python, sys.executable))
        wrong = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", str(here)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert [line for line in wrong.stderr.splitlines() if unit.name in line] == []
        said = subprocess.run(
            ["systemd-analyze", "security", "--offline=true", "--no-pager", str(here)],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        assert float(re.search(r"exposure level for .*: ([\d.]+)", said)[1]) <= MAX_EXPOSED


def test_the_server_is_not_killed_while_it_drains():
    (unit,) = (path for path in SERVICES if path.name == "copilot-admin.service")
    (seconds,) = map(int, values(unit, "TimeoutStopSec"))
    assert seconds > DRAIN_SECONDS + SHUTDOWN_MARGIN_SECONDS
    assert (values(unit, "KillMode"), values(unit, "ExecReload")) == (
        ["mixed"],
        ["/bin/kill -HUP $MAINPID"],
    )
