"""What Workspace itself says when an agent cannot be added, word for word.

Source: the messages of its dialog for adding an agent.
"""

NETWORK = (
    "Could not reach the agent server. Check the URL, ensure the server is running, and allow CORS "
    "from this app origin."
)
CORS = "The agent server blocked the request (CORS). Allow this app origin and try again."
NO_JSON = "Invalid response from the agent server. Expected valid JSON in /agents.json."
SCHEMA = "Invalid agents schema from the server. Please validate your /agents.json format."
CONFLICT = "Agent ID and name conflict … already exist"
_STATUS = {
    401: "Unauthorized access to the copilot URL.",
    404: "A valid /agents.json was not found.",
    500: "Internal server error.",
}
_OTHER_STATUS = "Unknown error occurred while validating URL."


def of_status(status: int) -> str:
    """What is said of an HTTP status that is not good."""
    return _STATUS.get(status, _OTHER_STATUS)
