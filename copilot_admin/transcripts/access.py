"""Permission to read conversations: reviewers read all, builders those of their own copilots."""

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, PermissionsMixin

from copilot_admin.models import Conversation, Membership
from copilot_admin.models.conversations import ConversationQuerySet

VIEW = "copilot_admin.view_conversation"
REVIEW = "copilot_admin.change_conversation"
BUILD = "copilot_admin.change_copilot"

Person = AbstractBaseUser | AnonymousUser


def may_read_conversations(user: Person) -> bool:
    return isinstance(user, PermissionsMixin) and (user.has_perm(VIEW) or user.has_perm(BUILD))


def visible_conversations(user: Person) -> ConversationQuerySet:
    """Return all conversations, or for builders those of the copilots they are members of."""
    if isinstance(user, PermissionsMixin):
        if user.has_perm(VIEW):
            return Conversation.objects.all()
        if user.has_perm(BUILD):
            own = Membership.objects.filter(user=user.pk).values_list("copilot_id", flat=True)
            return Conversation.objects.filter(copilot_id__in=list(own))
    return Conversation.objects.none()
