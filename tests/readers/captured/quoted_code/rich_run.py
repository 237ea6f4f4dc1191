import rich.traceback
rich.traceback.install(show_locals=True)
from fit import fit
fit({})
