"""Permission to read conversations and analytics: reviewers read all, builders those of their own copilots."""

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, PermissionsMixin

from copilot_admin.models import Conversation, Copilot, Membership
from copilot_admin.models.conversations import ConversationQuerySet
from copilot_admin.models.copilots import CopilotQuerySet

VIEW = "copilot_admin.view_conversation"
REVIEW = "copilot_admin.change_conversation"
BUILD = "copilot_admin.change_copilot"

Person = AbstractBaseUser | AnonymousUser


def may_read_conversations(user: Person) -> bool:
    return isinstance(user, PermissionsMixin) and (user.has_perm(VIEW) or user.has_perm(BUILD))


def readable_copilots(user: Person) -> CopilotQuerySet:
    """Return all copilots, or for builders those they are members of."""
    if isinstance(user, PermissionsMixin):
        if user.has_perm(VIEW):
            return Copilot.objects.all()
        if user.has_perm(BUILD):
            own = Membership.objects.filter(user=user.pk).values_list("copilot_id", flat=True)
            return Copilot.objects.filter(pk__in=list(own))
    return Copilot.objects.none()


def visible_conversations(user: Person) -> ConversationQuerySet:
    """Return the conversations with the copilots that a person may read about."""
    if isinstance(user, PermissionsMixin) and user.has_perm(VIEW):
        return Conversation.objects.all()
    ids = readable_copilots(user).values_list("pk", flat=True)
    return Conversation.objects.filter(copilot_id__in=list(ids))
