"""What the Linux kernel prints: its OOM report with the table of processes, machine checks, PCIe errors, boots."""
