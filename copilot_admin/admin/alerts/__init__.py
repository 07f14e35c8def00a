"""Alert rules, weekly digests, webhooks, and the history of alerts and deliveries."""
