"""``python -m usi`` is the command ``usi``."""

from usi.cli.main import run

if __name__ == "__main__":
    run()
