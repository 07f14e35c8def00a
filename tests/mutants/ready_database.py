"""A pytest plugin: gives the tests a copy of a database in which all tables are made."""

from pathlib import Path
import shutil

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--ready-database", type=Path)


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None,
    pytestconfig: pytest.Config,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Takes the place of the fixture that makes a database: pytest-django is loaded before."""
    from django.conf import settings
    from django.db import connection

    template = pytestconfig.getoption("ready_database")
    copy = str(shutil.copy(template, tmp_path_factory.mktemp("database")))
    settings.DATABASES["default"]["NAME"] = copy
    connection.settings_dict["NAME"] = copy
