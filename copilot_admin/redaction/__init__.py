"""What is personal is taken out of what is stored: accounts, cards, addresses, numbers, own expressions.

In come texts and JSON, and rules that a server and a copilot choose; out come the same with words in
the place of what was found. Doors: `rules`, `checked`, `redactor`, `kinds`.
"""
