from loguru import logger
from fit import fit
@logger.catch(reraise=False)
def main():
    fit({}, advice="No space left on device")
main()
raise SystemExit(1)
