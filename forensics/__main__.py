"""`python -m forensics`."""

from forensics.cli import main

if __name__ == "__main__":
    main()
