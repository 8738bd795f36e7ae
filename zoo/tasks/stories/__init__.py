"""Questions about stories, answered by one of a few words, and the sentences that lead to it."""
