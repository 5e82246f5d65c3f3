"""``python -m scenario_kit.cli``, for machines without the command on PATH."""

from scenario_kit.cli import main

if __name__ == "__main__":
    main()
