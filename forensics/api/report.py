"""Report: the finished answer, with methods that return it in every format."""

from typing import TYPE_CHECKING, Any

from forensics import model
from forensics.report import Style, render, with_stand_ins
from forensics.report.style import ISSUE_CHARS, PAGE_CHARS

if TYPE_CHECKING:
    import pandas as pd

    from forensics.report.subjects import Group


class Report(model.Report, frozen=True):
    """The answer on one case. Its fields are those of the JSON document, as typed values.

    `verdict`: "crash", "no_crash" or "undetermined". `causes`: most probable first, never empty; each with `id`, `title`,
    `role`, `probability` (0 to 1), `summary`, `evidence` (lines with `source`, `line`, `text`, `time`), `facts` (sizes in
    bytes), `remediations`. `subject`: the subject of the verdict and how it ended. Also: `incidents`, `timeline`, `sources`,
    `missing`, `notices`, `warnings`, `environment`, `curves`, `processes`, `unusual`,
    `last_lines`, `around`. The schema: `forensics/report/schema.json`.

    The output of `to_...` has secrets (tokens, passwords, keys) masked; the fields have the unchanged lines.

    >>> import forensics
    >>> report = forensics.analyze("sample_logs/jupyter_oom")
    >>> report.causes[0].facts["limit_bytes"], report.causes[0].evidence[0].source
    (419430400, 'sample_logs/jupyter_oom/dmesg.log')
    >>> report.causes[0].remediations[0].action
    'Ask for more memory than the 400 MiB it had'
    """

    @classmethod
    def of(cls, report: model.Report) -> "Report":
        """The Report of the pipeline as a Report with these methods."""
        return cls(**{name: getattr(report, name) for name in report.__struct_fields__})

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> "Report":
        """The Report in a document of `to_dict` or `--format json`; raises ForensicsError for another document.

        >>> import forensics
        >>> report = forensics.analyze("sample_logs/nan_loss")
        >>> forensics.Report.from_dict(report.to_dict()).verdict
        'crash'
        """
        from forensics.report.document import read_report

        return cls.of(read_report(document, "the given document"))

    @property
    def incident_groups(self) -> "list[Group]":
        """The incidents, with similar ones grouped: "112 times a memory limit was hit, jobs 4001 to 4199".

        >>> import forensics
        >>> [group.ids for group in forensics.analyze("sample_logs/nan_loss").incident_groups]
        [(1,)]
        """
        from forensics.report.subjects import incident_groups

        return incident_groups(self)

    def to_dict(self) -> dict[str, Any]:
        """The document of schema `forensics-report/1`: plain dicts, lists, texts and numbers.

        >>> import forensics
        >>> forensics.analyze("sample_logs/nan_loss").to_dict()["schema"]
        'forensics-report/1'
        """
        from forensics.report.document import document
        from forensics.report.redaction import without_secrets

        return document(without_secrets(self))

    def to_json(self) -> str:
        """The document as JSON, indented, ending with a line end.

        >>> import forensics, json
        >>> json.loads(forensics.analyze("sample_logs/nan_loss").to_json())["verdict"]
        'crash'
        """
        return render(self, "json")

    def to_text(self, width: int = PAGE_CHARS) -> str:
        """The text for a terminal, in lines of at most `width` characters, without colours.

        >>> import forensics
        >>> "numerics.nan" in forensics.analyze("sample_logs/nan_loss").to_text()
        True
        """
        return render(self, "text", Style(width=width))

    def to_markdown(self, max_chars: int = ISSUE_CHARS) -> str:
        """Markdown for an issue or a ticket; the least important parts are left out to fit `max_chars` characters.

        >>> import forensics
        >>> "numerics.nan" in forensics.analyze("sample_logs/nan_loss").to_markdown()
        True
        """
        return render(self, "markdown", Style(max_chars=max_chars))

    def to_html(self) -> str:
        """A self-contained HTML page, to be written to a file, opened, sent or printed.

        >>> import forensics
        >>> forensics.analyze("sample_logs/nan_loss").to_html()[:15]
        '<!DOCTYPE html>'
        """
        return render(self, "html")

    def to_frame(self, table: str = "evidence") -> "pd.DataFrame":
        """One table of the report as a pandas DataFrame; times are in UTC, sizes in bytes.

        `table`: "evidence" (a row for each line of each cause), "incidents", "series" (a row for each value of each curve),
        "causes", "timeline", "notices" or "sources". Raises ForensicsError for another name.

        >>> import forensics
        >>> evidence = forensics.analyze("sample_logs/jupyter_oom").to_frame()
        >>> evidence.loc[0, ["cause", "weight"]].tolist()
        ['host_memory.oom_cgroup', 'proof']
        """
        from forensics.api.frames import report_table

        return report_table(self, table)

    def redacted(self) -> "Report":
        """This report with stand-ins for hosts, users, addresses and jobs, and with secrets masked, to share it.

        >>> import forensics
        >>> forensics.analyze("sample_logs/slurm_oom").redacted().verdict
        'crash'
        """
        return Report.of(with_stand_ins(self)[0])

    def __repr__(self) -> str:
        from forensics.report.phrases import percent_text

        first = self.causes[0]
        return f"<forensics.Report {self.case}: {self.verdict}, {first.id} {percent_text(first.probability)}>"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """The HTML that a notebook shows."""
        from forensics.report.page.parts import fragment

        return fragment(self)
