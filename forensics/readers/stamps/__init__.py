"""Times that lines tell beside their prefix: boots, clocks that were set, dates that are printed, stamps near a line."""
