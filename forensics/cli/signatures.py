"""`forensics signatures list|show|check|test|export`: the database, for those who read and extend it."""

import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.app import Commands
from forensics.cli.common import Signatures
from forensics.cli.output import check_choice, save, say, write
from forensics.core import lazy
from forensics.core.errors import UsageError

if TYPE_CHECKING:
    from forensics.database import Cause, Signature
    from forensics.signature_export.rules import Advised, Rules
    from forensics.signature_lint.lint import LintResult


Target = Annotated[str, typer.Option("--format", "-f", help="npd, loki, prometheus or hyperpod.")]
Weight = Annotated[str, typer.Option("--weight", help="Signatures of at least this weight: proof, strong or hint.")]
Family = Annotated[list[str] | None, typer.Option("--family", help="Only this family or cause; can be repeated.")]
Selector = Annotated[str, typer.Option("--selector", help="The streams that Loki's rules read.")]
Site = Annotated[str, typer.Option("--site", help="Where the pages of causes are; without it, alerts name a command.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write the rules to this file.")]


def export(
    form: Target, weight: Weight = "strong", family: Family = None, selector: Selector = '{job=~".+"}',
    site: Site = "", output: Output = None, signatures: Signatures = None,
) -> None:  # fmt: skip
    """Export signatures as rules for a monitor: node-problem-detector, Loki, Prometheus, HyperPod.

    \b
    What cannot be said in the language of the monitor is listed on stderr. A remedy is one that reports of the signature's
    examples show: a minute for all.

    \b
    Examples:
      forensics signatures export -f npd --weight proof -o forensics-monitor.json
      forensics signatures export -f loki --family gpu_hardware --family host_memory -o rules.yaml
    """
    from forensics.config import config
    from forensics.database import builtin_folder, read_folders
    from forensics.database.entries import WEIGHT_NAMES
    from forensics.signature_export.rules import TARGETS, Setting, collect

    check_choice(form, TARGETS)
    check_choice(weight, WEIGHT_NAMES, "weight")
    causes, _ = read_folders([builtin_folder(), *config(signatures or ()).signatures])
    target = TARGETS[form]
    say("forensics: a report is made of each example for the remedy of its rule, a minute or two for all")
    with reports_of_lines(signatures or ()) as advised:
        found = collect(causes, weight, family or (), target.on_node, target.vetoes, advised)
    if not found.rules:
        raise UsageError("no such signature to export", ", ".join(family or ()), "forensics signatures list shows all")
    text = target.write(found.rules, Setting(selector, site))
    if output is None:
        write(text, None)
    else:
        save(text, output)
    _tell_losses(found)


def _tell_losses(found: "Rules") -> None:
    for loss in found.losses:
        print(f"{loss.id}: {loss.why if loss.exported else 'not exported: ' + loss.why}", file=sys.stderr)
    left = sum(not loss.exported for loss in found.losses)
    print(f"{len(found.rules)} rules; {left} signatures not exported", file=sys.stderr)


@contextlib.contextmanager
def reports_of_lines(signatures: Iterable[Path]) -> "Iterator[Advised]":
    """What a report of one line advises, if it names this cause: for the remedies of rules. Some 15 ms each."""
    import tempfile

    from forensics import pipeline

    known = pipeline.database(signatures)
    with tempfile.TemporaryDirectory(prefix="forensics-") as folder:
        log = Path(folder, "train.log")

        def advised(cause: str, line: str) -> tuple[str, ...]:
            log.write_text(f"{line}\n", encoding="utf-8")
            report = pipeline.analyze_paths([log], log.name, known)
            first = report.causes[0]
            return tuple(a.action for a in first.remediations) if first.id == cause and report.verdict != "no_crash" else ()

        yield advised


MAX_LINE = 8000  # of a pattern
CAUSE_ID = lazy.regex(r"[a-z]\w*\.[a-z]\w*")
Folder = Annotated[
    Path | None,
    typer.Argument(
        metavar="[PATH]", help="Your folder of cause files, or one file; without it, all files that an analysis uses."
    ),
]
Alone = Annotated[bool, typer.Option("--alone", help="Use DIR as the whole database, without the built-in one.")]
Only = Annotated[str | None, typer.Argument(metavar="[ID]", help="A family, a cause or a signature; without one, all.")]


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    group = typer.Typer(
        cls=Commands,
        rich_markup_mode=None,
        help="List, show, write, check and test signatures. signatures/README.md explains how to write one.",
    )
    for command in (list_, show, new, check, test, export):
        group.command(command.__name__.rstrip("_"))(command)
    app.add_typer(group, name="signatures")


def list_(only: Only = None, form: Annotated[str, typer.Option("--format", "-f", help="text or json.")] = "text",
          signatures: Signatures = None) -> None:  # fmt: skip
    """List signatures: id, weight, title of the cause. A text that is not an id is searched in titles, messages and sources.

    \b
    Examples:
      forensics signatures list
      forensics signatures list gpu_hardware
      forensics signatures list oom
      forensics signatures list -f json | jq length
    """
    from forensics import pipeline

    check_choice(form, ("text", "json"))
    causes = pipeline.database(signatures or ()).causes.values()
    every = [(c, s) for c in causes for s in c.signatures]
    chosen = [(c, s) for c, s in every if _is(s, only)] or [(c, s) for c, s in every if _speaks_of(c, s, only or "")]
    if not chosen:
        raise UsageError(
            f"no signature, cause or family has the name {only}, and no text mentions it",
            advice="forensics signatures list shows all",
        )
    write(_as_json(chosen) if form == "json" else _as_list(chosen), None)


def show(
    only: Annotated[str, typer.Argument(metavar="ID", help="A signature or a cause.")], signatures: Signatures = None
) -> None:
    """Show signatures in full: file, messages, pattern, source and examples.

    Example: forensics signatures show host_memory.oom_cgroup/kernel_killed
    """
    from forensics.config import config
    from forensics.core.text import printable
    from forensics.database import builtin_folder, read_folders

    causes, _ = read_folders([builtin_folder(), *config(signatures or ()).signatures])
    chosen = [(c, s) for c in causes for s in c.signatures if _is(s, only)]
    if not chosen:
        raise UsageError(f"no signature, cause or family has the name {only}", advice="forensics signatures list shows all")
    write("\n".join(printable(line, MAX_LINE) for _, s in chosen for line in _whole(s)) + "\n", None)


def new(
    cause: Annotated[str, typer.Argument(metavar="FAMILY.CAUSE", help="A cause that is known, or a new one.")],
    line: Annotated[str, typer.Argument(help="The message, as the program prints it, or its place in a log: FILE:NUMBER.")],
    into: Annotated[Path | None, typer.Option(metavar="DIR", help="Write the file into your folder of cause files.")] = None,
) -> None:
    """Print a cause file for a message of your own, to be completed where a ? stands.

    \b
    Examples:
      forensics signatures new storage.falcon 'E4711 ring lost' > mine/storage/falcon.yaml
      forensics signatures new storage.falcon job.log:120 --into mine
    """
    from forensics import pipeline
    from forensics.signature_lint.skeleton import skeleton

    if not CAUSE_ID.fullmatch(cause):
        raise UsageError(f"no cause is named {cause}", advice="give a family and a name: storage.falcon")
    text = skeleton(cause, _line_at(line) or line, cause in pipeline.database().causes)
    file = into / f"{cause.replace('.', '/')}.yaml" if into else None
    if file is None:
        write(text, None)
    elif file.exists():
        raise UsageError("this file exists already", str(file), "add the signature to it, or give another name")
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        save(text, file)
        say(f"forensics: {file} is written. Replace each ? in it, then: forensics signatures check {into}")


def _line_at(place: str) -> str:
    """The line at a place such as `logs/job.log:120`; empty if it is none. Raises UsageError if the log has no such line."""
    from forensics import sources
    from forensics.cli.lines import numbered
    from forensics.readers.templates import ignore_warning

    name, _, number = place.rpartition(":")
    if not (number.isdecimal() and name and Path(name).exists()):
        return ""
    rows = (text for s in sources.open_paths([Path(name)], ignore_warning) for n, text in numbered(s) if n == int(number))
    if found := next(rows, ""):
        return found
    raise UsageError("this log has no such line", place)


def check(
    folder: Folder = None,
    alone: Alone = False,
    notes: Annotated[bool, typer.Option("--notes", help="Also show notes: matches between related causes.")] = False,
) -> None:
    """Check cause files; all faults with path and line. Exit status: 1 if there are faults.

    \b
    Checks form, duplicate ids, unknown `explains`, messages with syntax errors, examples
    that fail, slow patterns, patterns that match another cause's examples, fields of sentences and
    remedies that nothing gives.

    \b
    Examples:
      forensics signatures check
      forensics signatures check ./my-signatures --notes
    """
    from forensics.signature_lint.lint import lint

    _tell(lint(folder, alone), notes)


def _tell(found: "LintResult", notes: bool) -> None:
    from forensics.core.text import with_noun

    write("".join(f"{fault}\n" for fault in found.faults), None)
    if notes:
        write("".join(f"{note} (note)\n" for note in found.notes), None)
    hidden = "" if notes or not found.notes else " (--notes shows them)"
    counts = f"{with_noun(found.causes, 'cause')}, {with_noun(found.signatures, 'signature')}: "
    counts += f"{with_noun(len(found.faults), 'fault')}, {with_noun(len(found.notes), 'note')}"
    print(counts + hidden, file=sys.stderr)
    if found.faults:
        raise typer.Exit(1)


def test(
    folder: Folder = None,
    alone: Alone = False,
    all_: Annotated[bool, typer.Option("--all", help="Also list the signatures that pass.")] = False,
) -> None:
    """Run the examples of signatures, quickly, while you write one. Exit status: 1 if one fails.

    Example: forensics signatures test ./my-signatures --all
    """
    from forensics.core.text import with_noun
    from forensics.signature_lint.lint import try_examples

    tried = failed = 0
    for name, place, faults in try_examples(folder, alone):
        tried += bool(name)
        failed += bool(faults)
        if faults or all_:
            write("".join(f"{fault}\n" for fault in faults) or f"{place}: {name}: ok\n", None)
    print(f"{with_noun(tried, 'signature')}, {failed} with faults", file=sys.stderr)
    if failed:
        raise typer.Exit(1)


def _is(signature: "Signature", only: str | None) -> bool:
    return only in (None, signature.id, signature.cause, signature.cause.split(".")[0])


def _speaks_of(cause: "Cause", signature: "Signature", text: str) -> bool:
    said = (signature.id, cause.title, signature.source, *signature.anchors)
    return any(text.lower() in field.lower() for field in said)


def _as_list(chosen: "list[tuple[Cause, Signature]]") -> str:
    from forensics.core.text import printable

    width = max(len(s.id) for _, s in chosen)
    return "".join(printable(f"{s.id:<{width}}  {s.weight:<6}  {c.title}") + "\n" for c, s in chosen)


def _as_json(chosen: "list[tuple[Cause, Signature]]") -> str:
    from forensics.report.escape import json_text

    rows = [
        {"id": s.id, "cause": c.id, "title": c.title, "weight": s.weight, "messages": s.messages, "anchors": s.anchors,
         "pattern": s.pattern,
         "unless": s.unless, "since": s.since, "source": s.source}
        for c, s in chosen
    ]  # fmt: skip
    return json_text(rows, 1)


def _whole(signature: "Signature") -> Iterator[str]:
    yield f"{signature.id}  {signature.weight}"
    yield f"  {signature.place}"
    yield f"  source   {signature.source}{'; since ' + signature.since if signature.since else ''}"
    yield from (f"  message  {message}" for message in signature.messages)
    yield f"  pattern  {signature.pattern}"
    yield from (f"  unless   {pattern}" for pattern in signature.unless)
    for example in signature.match:
        yield f"  match    {example.text}"
        if example.fields:
            yield f"           {', '.join(f'{k}: {v}' for k, v in example.fields.items())}"
    for example in signature.no_match:
        yield f"  no match {example.text}"
        yield f"           {example.why}"
    yield ""
