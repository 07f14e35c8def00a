"""Every setting of the service, read from the environment once."""

from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent
SECRET_KEY = "replaced-by-the-house"  # noqa: S105
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "copilot_admin"]
DATABASES = {
    "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": BASE_DIR / "var" / "db.sqlite3"}
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
