"""What now: the facts of a case, its summary, the evidence lines in order, and the remedies that fit them."""

from forensics.advice.annotate_links import linked
from forensics.advice.findings import findings, open_questions
from forensics.advice.remedies import advice
from forensics.advice.whereabouts import where, who
from forensics.advice.wording import summary

__all__ = ["advice", "findings", "linked", "open_questions", "summary", "where", "who"]
