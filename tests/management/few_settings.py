"""Settings for a command that needs nothing of the product: it starts in a fifth of the time."""

SECRET_KEY = "only for tests"
INSTALLED_APPS: list[str] = []
