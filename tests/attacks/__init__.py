"""Attacks on a server of two shipped models, while others ask it.

    python -m tests.attacks             all of them at their full size, as a table in Markdown
    python -m tests.attacks slow_heads  some of them

`attacks.py` holds the attacks, `server.py` the process that is attacked, `innocent.py` those who
ask meanwhile, `run.py` what is measured. `test_attacks.py` runs the small size.
"""
