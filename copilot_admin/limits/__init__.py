"""Rate limits, concurrency limits and budgets of requests."""
