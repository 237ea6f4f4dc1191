"""unittest's own form of the same."""

import logging
import unittest

logging.basicConfig(level=logging.INFO)


class TestFailures(unittest.TestCase):
    def test_timeout_error(self) -> None:
        with self.assertRaises(TimeoutError):
            raise TimeoutError("Timed out waiting 1800000ms")

    def test_logs_error(self) -> None:
        logging.getLogger("x").error("CUDA initialization: no driver, using the CPU")

    @unittest.expectedFailure
    def test_expected_failure(self) -> None:
        self.fail("as expected")
