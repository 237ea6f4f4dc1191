# A small test suite that prints its logs, expects exceptions, warns, and passes.
python -m pytest -v -s --log-cli-level=DEBUG suite_test.py; python -m unittest -v suite_unit 2>&1
