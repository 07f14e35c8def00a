"""Which of a copilot's models and providers answers a query."""

from copilot_admin.agent.llm.options import option
from copilot_admin.agent.values.spec import CopilotSpec
from protocol.query import Query


def switched_provider(spec: CopilotSpec, query: Query) -> str:
    """The name of the provider that a control lets answer; empty: the copilot's own."""
    for feature in spec.custom_features:
        if feature.model and option(feature, query=query) is True:
            return feature.provider
    return ""


def choose_model(spec: CopilotSpec, query: Query) -> tuple[str, str]:
    """Returns the id of the model to ask, and a note for the run (empty when there is none).

    A client may pick only from what the copilot offers: a request never decides freely what is
    called with the provider's key. A control that the user has switched on and that has a model of
    its own, such as one that searches the web, decides before the client's pick.
    """
    for feature in spec.custom_features:
        if feature.model and option(feature, query=query) is True:
            return feature.model, ""
    wanted = query.model
    if not wanted or wanted == spec.model or any(wanted == key for key, _ in spec.models):
        return wanted or spec.model, ""
    return spec.model, f"The client asked for the unknown model {wanted!r}; {spec.model!r} answers."
