"""What a builder is told before a draft is published: errors stop publishing, warnings do not.

In come a draft's document and what is known about its surroundings; out come findings, each with a
sentence and the input it is about. A check is a function in a module of `checks`; nothing else needs
to know of it.
"""
