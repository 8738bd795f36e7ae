"""The command line, `python -m zoo`: what is shipped, answers, pictures, exports and a server."""
