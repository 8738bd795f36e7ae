"""Parts that the recipes and endpoints of several tasks share."""
