"""Readers of public data sets, downloads with checksums, and generated samples."""
