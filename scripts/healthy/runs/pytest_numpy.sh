# Test suites that test for errors: their names are full of what elsewhere would be one.
python -m pytest -v --no-header -p no:cacheprovider --pyargs numpy.lib.tests.test_io numpy._core.tests.test_errstate numpy._core.tests.test_mem_overlap numpy._core.tests.test_half numpy.lib.tests.test_nanfunctions numpy.linalg.tests.test_linalg -x -q -rsx | cut -c1-160 | head -900
