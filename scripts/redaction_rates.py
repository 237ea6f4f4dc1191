"""How many examples of other programs' secrets are masked, and how many harmless lines: the figures of docs/redaction.md.

    git clone https://github.com/gitleaks/gitleaks; git clone https://github.com/Yelp/detect-secrets
    python -m scripts.redaction_rates --gitleaks gitleaks --detect-secrets detect-secrets --logs sample_logs

Nothing of those programs is run or kept: the literals of their tests are read out of the source. Of gitleaks these are the
elements of `tps` (to be found) and `fps` (not to be found) that are plain text; a secret that its helper puts into sentences is
tried behind `key = `. Of detect-secrets it is each row of a test's table with the text and what is expected. A text to be found
counts as masked if a mask is in it. Of logs it is every different line, and the evidence that reports quote.
"""

import argparse
import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import forensics
from forensics.report.redaction import mask_lines, mask_text

GO_TEXT = r'"(?:[^"\\\n]|\\.)*"|`[^`]*`'
GO_WORD = re.compile(rf"//[^\n]*|/\*.*?\*/|{GO_TEXT}|[A-Za-z_][\w.]*|\S", re.DOTALL)
LISTS = {"tps": True, "fps": False}
SAMPLE = re.compile(rf"utils\.GenerateSampleSecrets\(\s*(?:{GO_TEXT}),\s*(?P<text>{GO_TEXT})\s*\)")
Example = tuple[str, bool]  # a text, and whether it is a secret


def gitleaks_examples(folder: Path) -> Iterator[Example]:
    """The plain texts in the tests of the rules."""
    for path in sorted((folder / "cmd/generate/config/rules").glob("*.go")):
        text = path.read_text(encoding="utf-8")
        yield from ((f"key = {_go_text(m['text'])}", True) for m in SAMPLE.finditer(text))
        words = [w for w in GO_WORD.findall(text) if not w.startswith(("//", "/*"))]
        for at, word in enumerate(words):
            if word in LISTS and words[at + 1 : at + 6] == [":", "=", "[", "]", "string"]:
                yield from ((t, LISTS[word]) for t in _elements(words[at + 7 :], "}"))
            elif words[at : at + 2] == ["append", "("] and words[at + 2] in LISTS:
                yield from ((t, LISTS[words[at + 2]]) for t in _elements(words[at + 4 :], ")"))


def _elements(words: list[str], close: str) -> Iterator[str]:
    """The elements of a list up to its end that are plain texts, also several with + between them."""
    depth, element = 0, list[str]()
    for word in words:
        if depth == 0 and word in (",", close):
            if element and all(w == "+" or w[0] in '"`' for w in element):
                yield "".join(_go_text(w) for w in element if w != "+")
            element = []
            if word == close:
                return
            continue
        depth += (word in "([{") - (word in ")]}")
        element.append(word)


def _go_text(literal: str) -> str:
    return literal[1:-1] if literal[0] == "`" else str(ast.literal_eval(literal))


def detect_secrets_examples(folder: Path) -> Iterator[Example]:
    """The rows of the tables in the tests of the plugins."""
    for path in sorted((folder / "tests/plugins").glob("*_test.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assigned = [(n.targets[0], n.value) for n in tree.body if isinstance(n, ast.Assign)]
        names = {t.id: v.value for t, v in assigned if isinstance(t, ast.Name) and isinstance(v, ast.Constant)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Tuple) and len(node.elts) == 2:
                text, expected = (_python_value(e, names) for e in node.elts)
                told = isinstance(expected, bool | None) or (isinstance(expected, str) and expected in str(text))
                if isinstance(text, str) and told and "{non_secret}" not in text and "{secret}" not in text:
                    yield text, bool(expected)


def _python_value(node: ast.expr, names: dict[str, object]) -> object:
    """The value of a constant, a name of one, or `"...".format(...)` of such; the node itself if it is something else."""
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        form, given = _python_value(node.func.value, names), [_python_value(a, names) for a in node.args]
        named = {str(k.arg): _python_value(k.value, names) for k in node.keywords}
        if isinstance(form, str) and all(isinstance(v, str) for v in (*given, *named.values())):
            return form.format(*given, **named)
    try:
        return ast.literal_eval(node)
    except ValueError:
        return node


def masked(text: str) -> bool:
    """Is a secret seen in `text`?"""
    return "[REDACTED:" in "\n".join(mask_lines(text.split("\n")))


def rates(name: str, examples: Iterator[Example], show: bool) -> str:
    """The row of the table for the examples of a program; `show` prints those that were told wrongly."""
    unique = dict(examples)
    right, total = Counter[bool](), Counter[bool]()
    for text, secret in unique.items():
        total[secret] += 1
        right[secret] += masked(text) == secret
        if show and masked(text) != secret:
            print(f"{name}: {'not masked' if secret else 'masked'}: {text[:160]!r}")
    return f"| {name} | {_share(right[True], total[True])} | {_share(total[False] - right[False], total[False])} |"


def log_rates(name: str, folder: Path, show: bool) -> Iterator[str]:
    """Rows for all different lines below `folder`, and for the evidence that reports on its entries quote."""
    files = [p for p in sorted(folder.rglob("*.*")) if p.is_file() and p.suffix not in (".yaml", ".md")]
    lines = {line for p in files for line in p.read_text("utf-8", "replace").splitlines()}
    wrong = [line for line in lines if mask_text(line) != line]
    for line in wrong if show else ():
        print(f"{name}: masked: {line[:160]!r}")
    yield f"| {name}: lines | | {_share(len(wrong), len(lines))} |"
    cases = [p for p in sorted(folder.iterdir()) if p.is_dir()]
    quoted = {e.text for case in cases for finding in forensics.analyze([case]).causes for e in finding.evidence}
    yield f"| {name}: lines of evidence | | {_share(sum('[REDACTED:' in text for text in quoted), len(quoted))} |"


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({part / max(1, whole):.1%})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gitleaks", type=Path, help="a checkout of gitleaks")
    parser.add_argument("--detect-secrets", type=Path, help="a checkout of detect-secrets")
    parser.add_argument("--logs", type=Path, help="a folder with a folder of logs for each case")
    parser.add_argument("--show", action="store_true", help="also print each text that is told wrongly")
    given = parser.parse_args()
    rows = []
    if given.gitleaks:
        rows.append(rates("gitleaks", gitleaks_examples(given.gitleaks), given.show))
    if given.detect_secrets:
        rows.append(rates("detect-secrets", detect_secrets_examples(given.detect_secrets), given.show))
    if given.logs:
        rows += log_rates(given.logs.name, given.logs, given.show)
    print("\n".join(["| | secrets masked | harmless texts masked |", "|---|---|---|", *rows]))


if __name__ == "__main__":
    main()
