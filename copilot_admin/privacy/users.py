"""The rows of users: they go when nothing refers to them any more, and with them what is set for them."""

from collections.abc import Collection
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from copilot_admin.models import (
    ComponentCall,
    Conversation,
    EndUser,
    LegalHold,
    LimitRejection,
    Run,
    SubjectLimits,
)
from copilot_admin.models.limits import LimitScope
from copilot_admin.privacy.rows import ROWS, Gone
from copilot_admin.privacy.scopes import PrivacyScope
from copilot_admin.storage.many import delete_rows


def forgotten_by(scope: PrivacyScope) -> QuerySet[EndUser]:
    """The user whom a scope means as a whole, unless something of him is held."""
    if scope.user is None or not scope.is_of_user:
        return EndUser.objects.none()
    return EndUser.objects.filter(pk=scope.user).exclude(_of_user(LegalHold, "user_row"))


def forget(scope: PrivacyScope) -> Gone:
    """Deletes the row of the user whom a scope means, and limits that were set for him."""
    gone = Gone()
    for user in forgotten_by(scope):
        if _without_anything([user.pk]):
            for model in (SubjectLimits, LimitRejection):
                rows = model.objects.filter(scope=LimitScope.USER, subject=user.identifier)
                gone.counts[model.__name__] += rows.delete()[0]
            gone.counts[EndUser.__name__] += delete_rows(EndUser._meta.pk, [user.pk])
    return gone


def forget_silent(ids: Collection[int]) -> Gone:
    """Deletes those of some users whose last rows are gone; what is set for them stays."""
    gone = Gone()
    silent = _without_anything(ids)
    gone.counts[EndUser.__name__] += delete_rows(EndUser._meta.pk, silent)
    return gone


def users_of(rows: QuerySet[Any]) -> set[int]:
    """Users of the first of some rows, as many as one batch deletes."""
    return set(rows.order_by().values_list("user_id", flat=True)[:ROWS]) - {None}


def _without_anything(ids: Collection[int]) -> list[int]:
    """Of some users those to whom nothing refers."""
    if not ids:
        return []
    rows = EndUser.objects.filter(pk__in=ids)
    for model, column in (
        (Conversation, "user"), (Run, "user"), (ComponentCall, "user"), (LegalHold, "user_row"),
    ):  # fmt: skip
        rows = rows.exclude(_of_user(model, column))
    return list(rows.order_by("pk").values_list("pk", flat=True))


def _of_user(model: type, column: str) -> Exists:
    return Exists(model._default_manager.filter(**{column: OuterRef("pk")}))  # type: ignore[attr-defined]  # of every model
