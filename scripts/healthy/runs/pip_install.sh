# Packages are installed into a fresh environment, one of them built from its sources.
python -m venv /tmp/fresh && /tmp/fresh/bin/pip install --no-cache-dir numpy scikit-learn pandas
/tmp/fresh/bin/pip install --no-cache-dir --no-binary :all: --verbose psutil 2>&1
/tmp/fresh/bin/pip uninstall -y pandas; /tmp/fresh/bin/pip list; /tmp/fresh/bin/pip check
