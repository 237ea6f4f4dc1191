# Test suites that test for errors: their names are full of what elsewhere would be one.
python -m pytest -v --no-header -p no:cacheprovider --pyargs numpy._core.tests.test_errstate numpy.lib.tests.test_nanfunctions numpy.lib.tests.test_histograms -x -q -rsx | cut -c1-160 | head -900
