"""AppBuilder's component contract: manifests, typed content, merging, the six rules.

Source: the guide to contributing components of baidubce/app-builder (Qianfan AppBuilder SDK),
translated; where it leaves a question open, the behaviour of its SDK.
"""

from protocol.components.content import (
    PAYLOADS,
    ComponentArguments,
    ComponentOutput,
    Content,
    ContentType,
    ContractBreach,
    Message,
    OutputRole,
    VisibleScope,
    create_output,
    create_outputs,
)
from protocol.components.contract import (
    ComponentClass,
    ContractFinding,
    ContractRule,
    from_caller,
    is_reserved,
    manifest_from,
    static_findings,
)
from protocol.components.merging import collect, llm_text, merge, one_usage, total_usage
