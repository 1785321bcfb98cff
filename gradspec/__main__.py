"""`python -m gradspec`: the command line; knows nothing else."""

from gradspec.cli import main

if __name__ == "__main__":
    main()
