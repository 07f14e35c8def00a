"""The names of the roles, which settings and groups share."""

from enum import StrEnum


class Role(StrEnum):
    """A group of users."""

    AUDITORS = "Auditors"
    BUILDERS = "Builders"
    OPERATORS = "Operators"
    PUBLISHERS = "Publishers"
    REVIEWERS = "Reviewers"
