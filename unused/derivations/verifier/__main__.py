"""`python -m validate.verifier CERTIFICATE.json ...`."""

import sys

from .program import main

sys.exit(main(sys.argv[1:]))
