"""Pictures: safe decoding of files, and networks that turn pictures into annotation vectors."""
