"""Run the command `workbench` by `python -m workbench`."""

import sys

from workbench.cli.main import main

sys.exit(main())
