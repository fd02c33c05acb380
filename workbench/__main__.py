"""`python -m workbench` is the command `workbench`."""

import sys

from workbench.cli.main import main

sys.exit(main())
