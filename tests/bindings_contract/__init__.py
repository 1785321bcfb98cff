"""What the Python classes of nodes must do, whichever backend made them: see `contract`; `build` makes an extension to read."""
