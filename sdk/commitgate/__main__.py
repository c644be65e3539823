"""Run the command line with ``python -m commitgate``."""

from commitgate.cli import main

if __name__ == "__main__":
    main()
