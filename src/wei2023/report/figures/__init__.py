"""What each notebook draws: one file per notebook, one function per figure."""
