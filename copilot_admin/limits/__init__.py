"""How much may be asked: rates, answers at once and budgets, counted for all workers together.

In come who asks whom, and at its end what an answer took; out comes a seat, or the limit that is
reached. Doors: `subjects`, `admission`, and `demand` for what an answer took; for housekeeping `book`
and `counting`; for pages `use`, `rules` and `naming`; `near_limits` for whoever wants to be told at 80 %.
"""
