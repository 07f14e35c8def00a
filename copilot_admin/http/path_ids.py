"""Ids in addresses: digits, and no more of them than a column holds."""

from django.urls import register_converter
from django.urls.converters import IntConverter


class IdConverter(IntConverter):
    """`<id:name>`; beyond it `<int:name>` takes what a query would break with."""

    regex = "[0-9]{1,18}"  # of the nineteen that the largest number of a column has


def register() -> None:
    """Makes it known to Django, before it reads the first address."""
    register_converter(IdConverter, "id")
