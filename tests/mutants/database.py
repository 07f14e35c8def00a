"""Makes a database with all tables once, so that no trial has to make them."""

import os
from pathlib import Path
import shutil

from tests.mutants.processes import forked, own_folder, printed


def make_template(path: Path, *, root: Path, settings: str) -> None:
    """Writes an SQLite database as the tests would make it."""

    def work() -> int:
        os.environ["DJANGO_SETTINGS_MODULE"] = settings
        import django

        django.setup()
        from django.db import connection

        made = connection.creation.create_test_db(verbosity=0)
        connection.close()
        shutil.copy(made, path)
        return 0

    with own_folder() as folder:
        if forked(work, root=root, folder=folder) != 0:
            raise RuntimeError(printed(folder))
