"""AppBuilder's component contract: manifests, typed content, merging, the six rules.

Source: the guide to contributing components of baidubce/app-builder (Qianfan AppBuilder SDK),
translated; where it is silent, what its SDK does. Doors: what is named here, `contract`, `manifests`.
"""

from protocol.components.contract import (
    ComponentClass,
    ContractFinding,
    ContractRule,
    static_findings,
)
from protocol.components.manifests import manifest_from
from protocol.components.merging import (
    collect,
    for_llm,
    for_user,
    llm_text,
    merge,
    one_usage,
    total_usage,
    usages_of,
)
from protocol.components.message import ComponentArguments, Message
from protocol.components.outputs import (
    ComponentOutput,
    Content,
    ContractBreach,
    OutputRole,
    VisibleScope,
    create_output,
    create_outputs,
)
from protocol.components.payloads import PAYLOADS, ContentType, Payload
from protocol.components.system_inputs import from_caller, is_reserved

__all__ = [
    "PAYLOADS",
    "ComponentArguments",
    "ComponentClass",
    "ComponentOutput",
    "Content",
    "ContentType",
    "ContractBreach",
    "ContractFinding",
    "ContractRule",
    "Message",
    "OutputRole",
    "Payload",
    "VisibleScope",
    "collect",
    "create_output",
    "create_outputs",
    "for_llm",
    "for_user",
    "from_caller",
    "is_reserved",
    "llm_text",
    "manifest_from",
    "merge",
    "one_usage",
    "static_findings",
    "total_usage",
    "usages_of",
]
