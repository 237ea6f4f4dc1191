"""Dead links: those from page to page and to headings, and with --external those to elsewhere.

    python -m scripts.docs.links              # status 1 where one is dead
    python -m scripts.docs.links --external   # also asks each address once, where the network lets

An address that answers 404 or 410 is dead. One that does not answer at all is only named: the network may be the reason.
"""

import argparse
import functools
import http.client
import itertools
import os
import re
import sys
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath

from markdown_it import MarkdownIt

from scripts.docs import ROOT
from scripts.docs.pages import LINK, links, pages, repository_pages

DEAD = (404, 410)
TIMEOUT_S = 20
ASKED_AT_ONCE = 8
ADDRESS = re.compile(r"https?://[^\s<>()\[\]\"'`|]*[^\s<>()\[\]\"'`|.,;:]")


def dead_links(texts: Mapping[str, str], folder: Path | None = None) -> Iterator[str]:
    """`page: target` of each link among `texts` that leads to no page, no heading and, where `folder` is given, no file of it."""
    headings = functools.cache(lambda name: set(anchors(texts[name])))  # of the few pages that a link leads into
    for name, text in texts.items():
        for _, to in links(text):
            path, _, anchor = to.partition("#")
            if ":" in path:
                continue
            target = os.path.normpath(PurePosixPath(name).parent / path) if path else name
            is_there = target in texts or (folder is not None and (folder / target).exists())
            if not is_there or (anchor and target in texts and anchor not in headings(target)):
                yield f"{name}: {to}"


def anchors(text: str) -> Iterator[str]:
    """The anchors of a page's headings as git hosts and the site make them: `## What holds` -> what-holds."""
    seen: Counter[str] = Counter()
    tokens = MarkdownIt().parse(text)
    for heading, inline in itertools.pairwise(tokens):
        if heading.type == "heading_open":
            words = "".join(t.content for t in inline.children or () if t.type in ("text", "code_inline"))
            anchor = re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-")
            yield f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor
            seen[anchor] += 1


def addresses(texts: Mapping[str, str]) -> dict[str, str]:
    """Each address of elsewhere that is a link of a page, with that page; none that stands in code, which may be made up."""
    return {url: name for name, text in texts.items() for url in ADDRESS.findall(LINK.sub(_without_code, text))}


def _without_code(found: re.Match[str]) -> str:
    return "" if found["code"] else found[0]


def asked(url: str) -> str:
    """`ok`, `dead 404`, or why there was no answer."""
    request = urllib.request.Request(url, headers={"User-Agent": "Mozilla/5.0 (link check)"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S):
            return "ok"
    except urllib.error.HTTPError as error:
        return f"dead {error.code}" if error.code in DEAD else f"answers {error.code}"
    except (OSError, ValueError, http.client.HTTPException) as error:
        return f"no answer: {error}"


def main() -> None:
    """Print what is dead; status 1 where something is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--external", action="store_true", help="ask the addresses of elsewhere, too")
    given = parser.parse_args()
    site = pages()
    dead = [*dead_links(repository_pages(), ROOT), *dead_links(site, ROOT / "docs")]
    print(f"{sum(len(list(links(t))) for t in site.values())} links in {len(site)} pages, {len(dead)} dead", *dead, sep="\n  ")
    if given.external:
        urls = addresses(site)
        with ThreadPoolExecutor(ASKED_AT_ONCE) as pool:
            answers = dict(zip(urls, pool.map(asked, urls), strict=True))
        said = Counter(a.split(":")[0] for a in answers.values())
        print(f"{len(urls)} addresses: {', '.join(f'{n} {a}' for a, n in said.most_common())}")
        gone = [f"{urls[u]}: {u} ({a})" for u, a in answers.items() if a.startswith("dead")]
        dead += gone
        print(*gone, sep="\n")
    sys.exit(bool(dead))


if __name__ == "__main__":
    main()
