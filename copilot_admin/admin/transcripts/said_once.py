"""Leaves out of an answer the sentence of its failure, which its page says elsewhere.

Clients are told of it by a warning step and a piece of the answer, as generation 1 knows no steps.
The page says it where it says how the run ended, and so nowhere else.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from copilot_admin.admin.blocks.kinds import Block, StepsBlock, TextBlock


def without_sentence(blocks: Iterable[Block], sentence: str) -> Iterator[Block]:
    """The blocks of a run without what only repeats why it failed.

    Args:
        blocks: In their order.
        sentence: What the user was told; empty where nothing went wrong.
    """
    if not sentence:
        yield from blocks
        return
    shown = [_without(block, sentence) for block in blocks]
    yield from (block for block in shown if block is not None)


def _without(block: Block, sentence: str) -> Block | None:
    if isinstance(block, StepsBlock):
        rest = tuple(
            step for step in block.steps if not (step.is_warning and step.message == sentence)
        )
        return StepsBlock(rest) if rest else None
    if isinstance(block, TextBlock) and block.text.rstrip().endswith(sentence):
        text = block.text.rstrip().removesuffix(sentence).rstrip()
        return replace(block, text=text) if text else None
    return block
