"""Scores as the field reports them, computed as the official scripts compute them."""
