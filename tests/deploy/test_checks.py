"""What Django finds in the models and the settings before anything is deployed.

The settings of production have a process of their own: `tests/production_check.py`.
"""

from django.core.management import call_command


def test_djangos_checks_warn_of_nothing(capsys):
    call_command("check", fail_level="WARNING")
    assert capsys.readouterr().out == "System check identified no issues (0 silenced).\n"
