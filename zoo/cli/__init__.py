"""The command line, `python -m zoo`: lists, answers, pictures, exports and servers."""
