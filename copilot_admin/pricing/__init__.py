"""What answers cost: the prices of models, and how a cost follows from tokens and a price.

In come rows of prices, files of prices and the tokens of runs; out come costs, which may be unknown and
are then never 0. Doors: `cost`, `book`, `bill`, `money`, `in_use`, `litellm`, `importing`
and `shipped`.
"""
