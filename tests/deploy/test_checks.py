"""Django's system checks, with the settings of the tests and of production."""

from pathlib import Path
import subprocess
import sys

from django.core.management import call_command

from tests.production import production_environment

ROOT = Path(__file__).parents[2]


def test_djangos_checks_warn_of_nothing(capsys):
    call_command("check", fail_level="WARNING")
    assert capsys.readouterr().out == "System check identified no issues (0 silenced).\n"


def test_djangos_deployment_checks_warn_of_nothing_in_production(tmp_path):
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env=production_environment(str(tmp_path)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout
