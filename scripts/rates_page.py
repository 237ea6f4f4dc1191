"""docs/signature-rates.md, out of signatures/rates.csv: in which logs each signature fired, for those who come from outside.

    python -m scripts.rates_page              # writes the page
    python -m scripts.rates_page --check      # status 1 where the page is not what the table says

Run it after `python -m scripts.train rates` wrote a new table; a test holds that nobody forgets.
"""

import argparse
import csv
import sys
from collections import defaultdict
from pathlib import Path

from forensics.database import Database, builtin_folder, load

PAGE = Path(__file__).parent.parent / "docs" / "signature-rates.md"
HEAD = """# How often each signature is right

`signatures/rates.csv`, for reading: in which logs each signature fired, counted over logs whose end is known. This page is written by
`python -m scripts.rates_page`; edit nothing here.

## What was counted

| material | logs | MB | its end is known from |
| --- | ---: | ---: | --- |
| training logs of public repositories of benchmark results | 2,627 | 555 | the log's own word (`run_stop`, a status) |
| other whole logs of public repositories: batch jobs, notebooks, CI, services | 924 | 259 | an exit status, a scheduler's state, an exception as the last act |
| kernel logs of public mailing lists and repositories | 644 | 79 | the kernel's own markers |
| whole logs of small public repositories, healthy and failed | 787 | 212 | reading |
| failed CI jobs, and pairs of a good and a bad run | 474 | 105 | a CI service's status; researchers marked the lines that decide |
| whole logs of public repositories, healthy (half of them loud) and failed | 260 | 60 | reading |
| further logs and fragments of CI jobs, services and batch jobs | 264 | 13 | reading |
| logs cut short or joined to others by script | 420 | 47 | that of the log they are made from |
| pieces of 200 lines of healthy service logs | 166 | 5 | that of the whole log |
| excerpts of threads about failures | 609 | 4 | reading |
| crashes and healthy twins caused on purpose | 226 | under 10 | what was done |

`benchmarks/public_logs.csv` lists the public ones with repository, path and commit; none of their text is part of the project. A log
counts with the weight of its origin, so that a repository with a thousand logs counts as a few: the counts below are therefore no whole
numbers. A signature counts once in a log, however often it fires, and only where it speaks of the job that was asked about.

## How to read the tables

- **healthy**: logs that ended well and in which it fired. **own**: failed logs of its own cause. **other**: failed logs of another cause.
- **failed**: log odds that a log in which it fires ended badly; **cause**: that it ended by this cause. 0 is even, 2.2 is 9 in 10, -2.2
  is 1 in 10. Both are smoothed by three logs of what its weight promises, and they are what the ranker reads.
- A name without a weight is a record that was read whole: an Xid, an OOM report, a series of numbers.
- A signature that is not listed never fired in these logs; it starts with the promise of its weight alone
  (`forensics signatures show ID` tells which).
"""  # noqa: E501 - rows of a table


def page(database: Database) -> str:
    """The page's text."""
    with (builtin_folder() / "rates.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    signatures = {s.id: s for c in database.causes.values() for s in c.signatures}
    families: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        family = row["signature"].split(".")[0] if row["signature"] in signatures else "records"
        families[family].append(row)
    fired = sum(r["signature"] in signatures for r in rows)
    noisy = sum(float(r["healthy"]) > float(r["own"]) + float(r["other"]) for r in rows)
    text = [
        HEAD,
        f"{fired} of {len(signatures):,} signatures fired, and {len(rows) - fired} records. "
        f"{noisy} fired in more healthy logs than failed ones.",
    ]
    for family, told in sorted(families.items(), key=lambda f: (f[0] == "records", f[0])):
        text.append(f"\n## {family}\n")
        text.append("| signature | weight | ends | healthy | own | other | failed | cause |")
        text.append("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |")
        for row in told:
            signature = signatures.get(row["signature"])
            weight, ends = (signature.weight, signature.ends) if signature else ("", "")
            numbers = " | ".join(row[k] for k in ("healthy", "own", "other", "failed_log_odds", "cause_log_odds"))
            text.append(f"| {row['signature']} | {weight} | {ends} | {numbers} |")
    return "\n".join(text) + "\n"


def main() -> None:
    """Write the page, or say whether it is current."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 where the page is not current")
    given = parser.parse_args()
    text = page(load())
    if not given.check:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text:
        sys.exit(f"{PAGE.name} is not what signatures/rates.csv says; run python -m scripts.rates_page")


if __name__ == "__main__":
    main()
