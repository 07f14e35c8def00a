"""Where a builder tries, compares, goes back and connects: trials, saved questions, versions, a test.

In come drafts, documents, texts and questions; out go drafts that can be asked, answers with what
became of them, differences as marked parts, and versions with what became of them. Doors:
`playground`, `differences`, `changes`, `versions`, `connection`; of saved questions
`question_queue`, `question_rows`, `question_fares`, `question_runs`, `question_tasks`,
`question_check` and `numbers`; of replays `replay_decisions`, `replay_targets`, `replay_queue`, `replay_tasks` and
`replay_reading`; `running` of all that is done in the background.
"""
