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
        EndpointKey,
        Provider,
    )

    CallModelAdmin = ModelAdmin[ComponentCall]
    ConversationModelAdmin = ModelAdmin[Conversation]
    CopilotModelAdmin = ModelAdmin[Copilot]
    ProviderModelAdmin = ModelAdmin[Provider]
    KeyModelAdmin = ModelAdmin[EndpointKey]
    PersonModelAdmin = UserAdmin[User]
    CopilotModelForm = ModelForm[Copilot]
    ProviderModelForm = ModelForm[Provider]
    KeyModelForm = ModelForm[EndpointKey]
else:
    CallModelAdmin = ConversationModelAdmin = CopilotModelAdmin = ProviderModelAdmin = (
        KeyModelAdmin
    ) = ModelAdmin
    PersonModelAdmin = UserAdmin
    CopilotModelForm = ProviderModelForm = KeyModelForm = ModelForm
