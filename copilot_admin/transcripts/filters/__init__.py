"""The filters of the transcript list, by what they ask of a conversation.

Each module has those of one kind; `review/filters.py` puts them in the order of the form.
"""
