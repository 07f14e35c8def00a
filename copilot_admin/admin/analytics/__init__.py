"""Usage, reliability, feedback and cost of copilots."""
