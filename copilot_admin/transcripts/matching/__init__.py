"""Which conversation does a stateless request continue?

In come the messages of a request; out come the conversation and turn that they belong to, with what
is new inserted. Doors: `attaching`, `chain`, `content`, `left_out`, `tree`.
"""
