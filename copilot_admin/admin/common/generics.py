"""Django's generic classes with their models, for the type checker; those of the admin are audited."""

from typing import TYPE_CHECKING

from django.contrib.auth.admin import UserAdmin
from django.forms import ModelForm
from django.forms.models import ModelChoiceIterator

from copilot_admin.admin.common.audited import AuditedAdmin

if TYPE_CHECKING:
    from django.contrib.auth.models import Group, Permission, User

    from copilot_admin.models import (
        Alert,
        AlertDelivery,
        AlertDigest,
        AlertRule,
        AlertWebhook,
        AuditEntry,
        ComponentCall,
        Conversation,
        Copilot,
        Criterion,
        EndpointKey,
        ModelPrice,
        Provider,
        ReviewQueue,
        TranscriptExport,
    )

    AlertModelAdmin = AuditedAdmin[Alert]
    AlertRuleModelAdmin = AuditedAdmin[AlertRule]
    AlertDigestModelAdmin = AuditedAdmin[AlertDigest]
    AlertWebhookModelAdmin = AuditedAdmin[AlertWebhook]
    DeliveryModelAdmin = AuditedAdmin[AlertDelivery]
    AlertRuleModelForm = ModelForm[AlertRule]
    AlertDigestModelForm = ModelForm[AlertDigest]
    AlertWebhookModelForm = ModelForm[AlertWebhook]
    AuditModelAdmin = AuditedAdmin[AuditEntry]
    CallModelAdmin = AuditedAdmin[ComponentCall]
    ConversationModelAdmin = AuditedAdmin[Conversation]
    CopilotModelAdmin = AuditedAdmin[Copilot]
    CriterionModelAdmin = AuditedAdmin[Criterion]
    QueueModelAdmin = AuditedAdmin[ReviewQueue]
    ExportModelAdmin = AuditedAdmin[TranscriptExport]
    ProviderModelAdmin = AuditedAdmin[Provider]
    KeyModelAdmin = AuditedAdmin[EndpointKey]
    PriceModelAdmin = AuditedAdmin[ModelPrice]

    class PersonModelAdmin(AuditedAdmin[User], UserAdmin[User]):
        """Users, whose changes are audited too."""

    CopilotModelForm = ModelForm[Copilot]
    GroupModelForm = ModelForm[Group]
    PermissionIterator = ModelChoiceIterator[Permission]
    ProviderModelForm = ModelForm[Provider]
    KeyModelForm = ModelForm[EndpointKey]
    QueueModelForm = ModelForm[ReviewQueue]
    PriceModelForm = ModelForm[ModelPrice]
else:
    AlertModelAdmin = AlertRuleModelAdmin = AlertDigestModelAdmin = AlertWebhookModelAdmin = (
        DeliveryModelAdmin
    ) = AuditedAdmin
    AlertRuleModelForm = AlertDigestModelForm = AlertWebhookModelForm = ModelForm
    AuditModelAdmin = CallModelAdmin = ConversationModelAdmin = CopilotModelAdmin = (
        ProviderModelAdmin
    ) = KeyModelAdmin = CriterionModelAdmin = ExportModelAdmin = QueueModelAdmin = (
        PriceModelAdmin
    ) = AuditedAdmin

    class PersonModelAdmin(AuditedAdmin, UserAdmin):
        """Users, whose changes are audited too."""

    CopilotModelForm = GroupModelForm = ProviderModelForm = KeyModelForm = QueueModelForm = (
        PriceModelForm
    ) = ModelForm
    PermissionIterator = ModelChoiceIterator
