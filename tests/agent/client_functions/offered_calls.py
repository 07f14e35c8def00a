"""What a function offers for a query, and what becomes of a call of it."""

import json

import pytest

from copilot_admin.agent.client_functions.registry import Situation, offers_in
from copilot_admin.agent.client_functions.samples import FULL_QUERY
from copilot_admin.agent.tools.tool_arguments import ToolMistake
from copilot_admin.agent.values.model_call import ToolCall
from tests.agent.engine_inputs import make_spec


def offers(query=FULL_QUERY, *, taken=(), **spec):
    situation = Situation(spec=make_spec(**spec), query=query, widgets=query.widgets.all())
    return offers_in(situation, taken=taken)


def asked(function, query=FULL_QUERY, /, **arguments):
    found = next(one for one in offers(query).values() if one.function == function)
    return found.arguments(ToolCall(id="c", name=function, arguments=json.dumps(arguments)))


def mistake(function, query=FULL_QUERY, /, **arguments):
    with pytest.raises(ToolMistake) as told:
        asked(function, query, **arguments)
    return told.value.public


def written(offer, arguments):
    return ToolCall(id="c", name=offer.schema.name, arguments=json.dumps(arguments))
