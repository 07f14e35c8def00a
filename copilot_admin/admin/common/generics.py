"""Django's generic classes with their models, for the type checker; at run time they take none."""

from typing import TYPE_CHECKING

from django.contrib.admin import ModelAdmin
from django.contrib.auth.admin import UserAdmin
from django.forms import ModelForm

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from copilot_admin.models import (
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

    CallModelAdmin = ModelAdmin[ComponentCall]
    ConversationModelAdmin = ModelAdmin[Conversation]
    CopilotModelAdmin = ModelAdmin[Copilot]
    CriterionModelAdmin = ModelAdmin[Criterion]
    QueueModelAdmin = ModelAdmin[ReviewQueue]
    ExportModelAdmin = ModelAdmin[TranscriptExport]
    ProviderModelAdmin = ModelAdmin[Provider]
    KeyModelAdmin = ModelAdmin[EndpointKey]
    PriceModelAdmin = ModelAdmin[ModelPrice]
    PersonModelAdmin = UserAdmin[User]
    CopilotModelForm = ModelForm[Copilot]
    ProviderModelForm = ModelForm[Provider]
    KeyModelForm = ModelForm[EndpointKey]
    QueueModelForm = ModelForm[ReviewQueue]
    PriceModelForm = ModelForm[ModelPrice]
else:
    CallModelAdmin = ConversationModelAdmin = CopilotModelAdmin = ProviderModelAdmin = (
        KeyModelAdmin
    ) = CriterionModelAdmin = ExportModelAdmin = QueueModelAdmin = PriceModelAdmin = ModelAdmin
    PersonModelAdmin = UserAdmin
    CopilotModelForm = ProviderModelForm = KeyModelForm = QueueModelForm = PriceModelForm = (
        ModelForm
    )
