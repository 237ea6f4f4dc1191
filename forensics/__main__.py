"""`python -m forensics`."""

from forensics.cli import command

if __name__ == "__main__":
    command()
