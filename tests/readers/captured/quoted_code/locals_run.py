import sys, traceback
from fit import fit
def hook(kind, error, tb):
    print("".join(traceback.TracebackException(kind, error, tb, capture_locals=True).format()), file=sys.stderr)
sys.excepthook = hook
fit({})
