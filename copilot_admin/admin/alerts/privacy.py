"""Words of users leave the server only by the hand of somebody who may read them.

Who may say where messages go could otherwise have them sent to himself.
"""

from django.db.models import QuerySet
from django.http import HttpRequest

from copilot_admin.models import Alert, AlertDelivery, AlertRule, DeliveryState

READ = "copilot_admin.view_conversation"


def may_read_words(request: HttpRequest) -> bool:
    """Whether somebody may read transcripts."""
    return request.user.has_perm(READ)


def hold_back(rules: QuerySet[AlertRule]) -> int:
    """Takes the words out of what rules tell, and out of what of theirs still waits to be sent.

    Returns:
        How many of them told words.
    """
    ids = list(rules.filter(with_words=True).values_list("pk", flat=True))
    AlertRule.objects.filter(pk__in=ids).update(with_words=False)
    alerts = Alert.objects.filter(rule__in=ids).exclude(words=[])
    AlertDelivery.objects.filter(state=DeliveryState.WAITING, alert__in=alerts).update(
        state=DeliveryState.FAILED, answer="Held back: it went to somebody else when it was made."
    )
    return len(ids)


def may_send(request: HttpRequest, delivery: AlertDelivery) -> bool:
    """Whether somebody may see what a message says, and have it sent again; one that was erased, nobody."""
    is_plain = not (delivery.alert and delivery.alert.words)
    return bool(delivery.body) and (is_plain or may_read_words(request))
