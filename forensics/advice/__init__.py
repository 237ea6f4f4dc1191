"""Advice: the facts of a case, its summary, the evidence lines in order, and the remedies that fit them."""

from forensics.advice.annotate_links import annotate_links
from forensics.advice.evidence import lines_of_other_deaths
from forensics.advice.findings import findings, open_questions, questions_of_open_end
from forensics.advice.possible import possible_causes, told_by_status
from forensics.advice.remedies import fitting_remedies
from forensics.advice.whereabouts import affected, location_text
from forensics.advice.wording import summary
