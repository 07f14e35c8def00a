"""Every JSON example of the project's sources, mended where translation or prose broke it.

Generation 1 comes from two translations of one README (their examples are the same, byte for
byte), generation 2 from the README after the migration of 2025-01-16. Beside each stands what was
mended; "completed" means that the source shows one field and leaves the rest out as `...`.
"""

from dataclasses import dataclass
import json
from typing import Any

from protocol.models import Generation


@dataclass(frozen=True)
class Seed:
    name: str
    generation: Generation
    body: dict[str, Any]
    mended: str

    @property
    def bytes(self) -> bytes:
        return json.dumps(self.body).encode()


HELLO = {"role": "human", "content": "Hi there."}
HISTORICAL_UUID = "38181a68-9650-4940-84fb-a3f29c8869f3"
QUOTE_UUID = "c276369e-e469-4689-b5fe-3f8c76f7c45a"
PRICES = (
    '[{"date":"2024-10-15T00:00:00-04:00","open":233.61,"high":237.49,"low":232.37,'
    '"close":233.85,"volume":61901688,"vwap":234.33,"adj_close":233.85,"change":0.24,'
    '"change_percent":0.0010274},{"date":"2024-10-14T00:00:00-04:00","open":228.7,"high":231.73,'
    '"low":228.6,"close":231.3,"volume":39882100,"vwap":230.0825,"adj_close":231.3,"change":2.6,'
    '"change_percent":0.0114},{"date":"2024-10-11T00:00:00-04:00","open":229.3,"high":233.2,'
    '"low":228.9,"close":231.0,"volume":32581944,"vwap":231.0333,"adj_close":231.0,"change":1.7,'
    '"change_percent":0.0074}, ... ]'
)
THREE_MESSAGES = [
    HELLO,
    {"role": "ai", "content": "Hi there, I'm a copilot. How are you?"},
    {"role": "human", "content": "I'm fine, thank you. What is the weather in Tokyo?"},
]
PRICE_QUESTION = {"role": "human", "content": "What is the current stock price of AAPL?"}

# --- generation 1 -----------------------------------------------------------------------------

CALL_ONE = {"function": "get_widget_data", "input_arguments": {"widget_uuid": QUOTE_UUID}}
HISTORICAL_ONE = {
    "uuid": HISTORICAL_UUID,
    "name": "Historical Stock Price",
    "description": "Historical Stock Price",
    "metadata": {
        "symbol": "AAPL",
        "source": "Financial Modelling Prep",
        "lastUpdated": 1728994470324,
    },
}

GENERATION_ONE = [
    Seed(
        "request schema",
        Generation.ONE,
        {
            "messages": [HELLO],
            "context": [
                {
                    "uuid": "3fa85f64-5717-4562-b3fc-2c963f66afa6",
                    "name": "<widget name>",
                    "description": "<widget description>",
                    "data": {"content": "<data>"},
                    "metadata": {"<metadata key>": "<metadata value>"},
                }
            ],
            "widgets": [
                {
                    "uuid": "3fa85f64-5717-4562-b3fc-2c963f66afa6",
                    "name": "<widget name>",
                    "description": "<widget description>",
                    "metadata": {"<metadata key>": "<metadata value>"},
                }
            ],
        },
        "comments, `...` and trailing commas removed",
    ),
    Seed(
        "only one human message",
        Generation.ONE,
        {"messages": [HELLO], "widgets": []},
        "completed: `...` became an empty widget list",
    ),
    Seed(
        "multiple messages",
        Generation.ONE,
        {"messages": THREE_MESSAGES, "widgets": []},
        "completed: `...` became an empty widget list",
    ),
    Seed(
        "context",
        Generation.ONE,
        {
            "messages": [HELLO],
            "context": [
                {
                    "uuid": "3fa85f64-5717-4562-b3fc-2c963f66afa6",
                    "name": "Analyst Estimates",
                    "description": "Contains analyst estimates for a ticker",
                    "data": {"content": "<data>"},
                    "metadata": {
                        "symbol": "AAPL",
                        "period": "quarter",
                        "source": "Financial Modelling Prep",
                        "lastUpdated": 1728998071322,
                    },
                },
                {
                    "uuid": "8b2e5f79-3a1d-4c9e-b6f8-1e7d2a9c0b3d",
                    "name": "Earnings Transcripts",
                    "description": "Contains earnings transcripts for a ticker",
                    "data": {"content": "<data>"},
                    "metadata": {
                        "symbol": "AAPL",
                        "period": "quarter",
                        "source": "Intrinio",
                        "lastUpdated": 1728998071322,
                    },
                },
            ],
            "widgets": [],
        },
        'the key `" context "` lost its spaces; comments removed; completed with a message',
    ),
    Seed(
        "widgets",
        Generation.ONE,
        {
            "messages": [HELLO],
            "widgets": [
                {
                    "uuid": QUOTE_UUID,
                    "name": "Stock Price Quote Widget",
                    "description": "Contains the current stock price of a ticker",
                    "metadata": {"ticker": "AAPL"},
                },
                {
                    "uuid": "9f8e7d6c-5b4a-3c2e-1d0f-9e8d7c6b5a4b",
                    "name": "Financial Ratios Widget",
                    "description": "Displays key financial ratios for a company",
                    "metadata": {"ticker": "AAPL", "period": "TTM"},
                },
            ],
        },
        'the key `" widgets "` lost its spaces; `...` removed; completed with a message',
    ),
    Seed(
        "function call and result",
        Generation.ONE,
        {
            "messages": [
                HELLO,
                {"role": "ai", "content": json.dumps(CALL_ONE, separators=(",", ":"))},
                {"role": "tool", "function": "get_widget_data", "data": {"content": "<data>"}},
            ]
        },
        "the quotes inside the ai content were unescaped and spaced apart; `...` became a message",
    ),
    Seed(
        "example, first leg",
        Generation.ONE,
        {"messages": [PRICE_QUESTION], "widgets": [HISTORICAL_ONE]},
        "every text lost the spaces that translation put around it",
    ),
    Seed(
        "example, second leg",
        Generation.ONE,
        {
            "messages": [
                PRICE_QUESTION,
                {
                    "role": "ai",
                    "content": json.dumps(
                        {
                            "function": "get_widget_data",
                            "input_arguments": {"widget_uuid": HISTORICAL_UUID},
                        }
                    ),
                },
                {"role": "tool", "function": "get_widget_data", "data": {"content": PRICES}},
            ],
            "widgets": [HISTORICAL_ONE],
        },
        "the quotes inside both contents were unescaped and spaced apart; the list of widgets was"
        " never closed; the `...` inside the data is the source's own, so the data is no JSON",
    ),
]
# As the translation left it: spaces around every text, the role included.
SPACED_OUT_ONE: dict[str, Any] = {
    "messages": [{"role": " human ", "content": " What is the current stock price of AAPL? "}],
    "widgets": [
        {
            "uuid": f" {HISTORICAL_UUID} ",
            "name": " Historical Stock Price ",
            "description": " Historical Stock Price ",
            "metadata": {
                "symbol": " AAPL ",
                "source": " Financial Modelling Prep ",
                "lastUpdated": 1728994470324,
            },
        }
    ],
}
COPILOTS_JSON_ONE = {  # comments and the comma after the last member removed
    "example_copilot": {
        "name": "Mistral Example Co. Copilot",
        "description": "AI-powered financial copilot that uses Mistral Large as its LLM.",
        "image": "<url>",
        "hasStreaming": True,
        "hasFunctionCalling": True,
        "endpoints": {"query": "<url>"},
    }
}

# --- generation 2 -----------------------------------------------------------------------------

NEWS_ARGUMENTS = {
    "symbol": "AAPL",
    "channels": "All",
    "start_date": "2021-01-16",
    "end_date": "2025-01-16",
    "topics": "",
    "limit": 50,
}
CALL_TWO = {
    "function": "get_widget_data",
    "input_arguments": {
        "data_sources": [
            {"origin": "OpenBB API", "id": "company_news", "input_args": NEWS_ARGUMENTS}
        ]
    },
    "copilot_function_call_arguments": {
        "data_sources": [{"origin": "OpenBB API", "widget_id": "company_news"}]
    },
}
HISTORICAL_CALL_TWO = {
    "function": "get_widget_data",
    "input_arguments": {
        "data_sources": [
            {
                "origin": "openbb_api",
                "id": "historical_stock_price",
                "input_args": {"symbol": "AAPL"},
            }
        ]
    },
    "copilot_function_call_arguments": {
        "data_sources": [{"origin": "openbb_api", "widget_id": "historical_stock_price"}]
    },
}
SYMBOL_PARAM = {
    "name": "symbol",
    "type": "string",
    "description": "Stock ticker symbol",
    "current_value": "AAPL",
    "default_value": "AAPL",
}
PLACEHOLDER_WIDGET = {
    "origin": "<origin>",
    "widget_id": "<widget_id>",
    "name": "<widget name>",
    "description": "<widget description>",
}
PLACEHOLDER_PARAM = {
    "name": "<parameter_name>",
    "type": "<parameter_type>",
    "description": "<parameter description>",
    "default_value": "<default value>",
}
A_WIDGET: dict[str, Any] = {
    "primary": [{"origin": "OpenBB API", "widget_id": "stock_price_quote", "params": []}],
    "secondary": [],
    "extra": [],
}


def _historical_two(origin: str, metadata: dict[str, Any]) -> dict[str, Any]:
    widget = {
        "origin": origin,
        "widget_id": "historical_stock_price",
        "name": "Historical Stock Price",
        "description": "Historical Stock Price",
        "params": [SYMBOL_PARAM],
        "metadata": metadata,
    }
    return {"primary": [widget], "secondary": [], "extra": []}


GENERATION_TWO = [
    Seed(
        "request schema",
        Generation.TWO,
        {
            "messages": [HELLO],
            "widgets": {
                "primary": [
                    {
                        **PLACEHOLDER_WIDGET,
                        "params": [{**PLACEHOLDER_PARAM, "current_value": "<current value>"}],
                        "metadata": {"<metadata key>": "<metadata value>"},
                    }
                ],
                "secondary": [{**PLACEHOLDER_WIDGET, "params": [], "metadata": {}}],
                "extra": [{**PLACEHOLDER_WIDGET, "params": [PLACEHOLDER_PARAM], "metadata": {}}],
            },
            "context": [
                {
                    "uuid": "3fa85f64-5717-4562-b3fc-2c963f66afa6",
                    "name": "<context name>",
                    "description": "<context description>",
                    "data": {"content": "<data>"},
                    "metadata": {"<metadata key>": "<metadata value>"},
                }
            ],
        },
        "comments, `...` and trailing commas removed",
    ),
    Seed(
        "only one human message",
        Generation.TWO,
        {"messages": [HELLO], "widgets": A_WIDGET},
        "completed: `...` became groups with a widget",
    ),
    Seed(
        "multiple messages",
        Generation.TWO,
        {"messages": THREE_MESSAGES, "widgets": A_WIDGET},
        "completed: `...` became groups with a widget",
    ),
    Seed(
        "widgets",
        Generation.TWO,
        {
            "messages": [HELLO],
            "widgets": {
                "primary": [
                    {
                        "origin": "OpenBB API",
                        "widget_id": "stock_price_quote",
                        "name": "Stock Price Quote Widget",
                        "description": "Contains the current stock price of a ticker",
                        "params": [
                            {
                                "name": "ticker",
                                "type": "string",
                                "description": "Stock ticker symbol",
                                "current_value": "TSLA",
                                "default_value": "AAPL",
                            }
                        ],
                        "metadata": {"ticker": "TSLA"},
                    }
                ],
                "secondary": [
                    {
                        "origin": "OpenBB API",
                        "widget_id": "financial_ratios",
                        "name": "Financial Ratios Widget",
                        "description": "Displays key financial ratios for a company",
                        "params": [
                            {
                                "name": "ticker",
                                "type": "string",
                                "description": "Stock ticker symbol",
                                "current_value": "AAPL",
                                "default_value": "AAPL",
                            },
                            {
                                "name": "period",
                                "type": "string",
                                "description": "Time period for ratios",
                                "current_value": "TTM",
                                "default_value": "TTM",
                            },
                        ],
                        "metadata": {
                            "lastUpdated": 1737111708292,
                            "source": "Financial Modelling Prep",
                        },
                    }
                ],
                "extra": [],
            },
        },
        "`...` removed; completed with a message",
    ),
    Seed(
        "context",
        Generation.TWO,
        {
            "messages": [HELLO],
            "widgets": A_WIDGET,
            "context": [
                {
                    "uuid": "3fa85f64-5717-4562-b3fc-2c963f66afa6",
                    "name": "chart_artifact_123a5",
                    "description": "A chart showing the stock price of AAPL over the last 30 days",
                    "data": {"content": "<data>"},
                    "metadata": {
                        "lastUpdated": 1737111708292,
                        "source": "Financial Modelling Prep",
                    },
                },
                {
                    "uuid": "8b2e5f79-3a1d-4c9e-b6f8-1e7d2a9c0b3d",
                    "name": "table_artifact_4534as",
                    "description": "A table showing the management team of AAPL",
                    "data": {"content": "<data>"},
                    "metadata": {},
                },
            ],
        },
        "comments and `...` removed; completed with a message and a widget",
    ),
    Seed(
        "function call and result",
        Generation.TWO,
        {
            "messages": [
                HELLO,
                {"role": "ai", "content": json.dumps(CALL_TWO, separators=(",", ":"))},
                {"role": "tool", **CALL_TWO, "data": [{"content": "<data>"}]},
            ]
        },
        "comments and `...` removed; completed with a message",
    ),
    Seed(
        "example, first leg",
        Generation.TWO,
        {
            "messages": [PRICE_QUESTION],
            "widgets": _historical_two(
                "openbb_api",
                {
                    "symbol": "AAPL",
                    "source": "Financial Modelling Prep",
                    "lastUpdated": 1728994470324,
                },
            ),
        },
        "nothing",
    ),
    Seed(
        "example, second leg",
        Generation.TWO,
        {
            "messages": [
                PRICE_QUESTION,
                {"role": "ai", "content": json.dumps(HISTORICAL_CALL_TWO, separators=(",", ":"))},
                {"role": "tool", **HISTORICAL_CALL_TWO, "data": [{"content": PRICES}]},
            ],
            "widgets": _historical_two(
                "OpenBB API",
                {"lastUpdated": 1728994470324, "source": "Financial Modelling Prep"},
            ),
        },
        "nothing; the `...` inside the data is the source's own, so the data is no JSON",
    ),
]
COPILOTS_JSON_TWO = {  # comments of both kinds removed
    "example_copilot": {
        "name": "Mistral Example Co. Copilot",
        "description": "AI-powered financial copilot that uses Mistral Large as its LLM.",
        "image": "<url>",
        "endpoints": {"query": "<url>"},
        "hasStreaming": True,
        "hasDocuments": False,
        "hasFunctionCalling": False,
        "features": {
            "streaming": True,
            "file-upload": False,
            "widget-dashboard-select": False,
            "widget-dashboard-search": False,
            "widget-global-search": False,
        },
    }
}

# --- generation 3: the samples of today's protocol --------------------------------------------

NEWS_UUID = "123e4567-e89b-12d3-a456-426614174000"
NEWS_SOURCE = {
    "widget_uuid": NEWS_UUID,
    "origin": "openbb",
    "id": "company_news",
    "input_args": {"symbol": "AAPL"},
}
CALL_THREE = {"function": "get_widget_data", "input_arguments": {"data_sources": [NEWS_SOURCE]}}
GENERATION_THREE = [
    Seed(
        "second leg",
        Generation.THREE,
        {
            "messages": [
                {"role": "human", "content": "What moved Apple?"},
                {"role": "ai", "content": json.dumps(CALL_THREE)},
                {
                    "role": "tool",
                    **CALL_THREE,
                    "data": [
                        {
                            "items": [
                                {
                                    "content": "Apple Reports Record-Breaking Quarter",
                                    "data_format": {"data_type": "object", "parse_as": "text"},
                                }
                            ]
                        }
                    ],
                    "extra_state": {"copilot_function_call_arguments": {"widget_uuid": NEWS_UUID}},
                },
            ],
            "widgets": {
                "primary": [
                    {
                        "uuid": NEWS_UUID,
                        "origin": "openbb",
                        "widget_id": "company_news",
                        "name": "Company News",
                        "description": "News about a company",
                        "params": [
                            {
                                "name": "ticker",
                                "type": "string",
                                "description": "Stock ticker symbol",
                                "current_value": "AAPL",
                            }
                        ],
                        "metadata": {},
                    }
                ],
                "secondary": [],
                "extra": [],
            },
            "workspace_options": {"deep-research": True, "model": "gpt-4o"},
            "tools": [],
            "context": [],
        },
        "the abridged identifiers and texts completed",
    ),
]

SEEDS = [*GENERATION_ONE, *GENERATION_TWO, *GENERATION_THREE]

# The streams of the examples, the comments after the data removed.
HI = ["H", "i", "!"]
PRICE_ANSWER = [
    *("The", " current", " stock", " price", " of"),
    *(" Apple", " Inc.", " (AAPL)", " is", " $150.75."),
]
