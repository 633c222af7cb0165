from wei2023.cli import main

raise SystemExit(main())
