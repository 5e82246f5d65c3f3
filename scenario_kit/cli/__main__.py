"""``python -m scenario_kit.cli``, if the command is not on PATH."""

from scenario_kit.cli import main

if __name__ == "__main__":
    main()
