import cgitb
cgitb.enable(format="text")
from fit import fit
fit({})
