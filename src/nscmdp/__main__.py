import sys

from nscmdp.cli import main

sys.exit(main())
