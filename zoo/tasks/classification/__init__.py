"""Classification of a text, or of a premise and a hypothesis."""
