"""Addresses of static files, each put together once: a page names twenty of them."""

from typing import Any

from django.contrib.staticfiles.storage import StaticFilesStorage


class AddressesKept(StaticFilesStorage):
    """Django's storage of static files, which joins the address of a file once."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._addresses: dict[str | None, str] = {}

    def url(self, name: str | None) -> str:
        """The address of a file. The names are those of templates and forms, so they are few."""
        kept = self._addresses.get(name)
        if kept is None:
            kept = self._addresses[name] = super().url(name)
        return kept
