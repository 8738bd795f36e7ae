"""`python -m zoo`."""

from zoo.cli.main import main

if __name__ == "__main__":
    main()
