"""What a model is told: instructions, Data messages and the conversation, within their limits.

Doors: `conversation`, `placeholders`, `data_text`.
"""
