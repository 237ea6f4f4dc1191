"""Train the text model, the first half of the classifier: which cause the words of a case indicate.

    {"mat", "shapes", "shapes cannot"} labelled code.shape, ... -> vocabulary, idf, intercepts, coefficients

The vocabulary has the words that occur in MIN_WORD_LOGS documents of two or more sources, and in the signatures' examples or in
MIN_PRIVATE_CASES cases. That excludes names of hosts and people.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from forensics.database import builtin_folder, read_folders
from forensics.decision.candidates import FEATURE_NAMES
from forensics.decision.model import Model
from forensics.decision.text import trouble_words
from forensics.outcome.trees import Trees
from scripts.train import outcome_fit
from scripts.train.cases import Case
from scripts.train.solvers import softmax_regression

MIN_WORD_LOGS = 3  # chosen by hand: a word of fewer logs says nothing of a cause
MIN_PRIVATE_CASES = 4  # chosen by hand: a name of a host or a person stands in fewer cases


class Document(Struct, frozen=True):
    """The words of one text, its cause and its source. `public`: it is an example of a signature."""

    words: frozenset[str]
    cause: str
    source: str
    public: bool = False


def document_of(case: Case) -> Document:
    """The words in the lines of trouble of a case."""
    return Document(frozenset(case.question.words()), case.right[0], case.source)


def signature_examples() -> list[Document]:
    """Every positive example of the built-in signatures."""
    causes, _ = read_folders([builtin_folder()])
    return [
        Document(frozenset(trouble_words(e.text.split("\n"))), c.id, s.id, public=True)
        for c in causes
        for s in c.signatures
        for e in s.match
    ]


def kept_words(documents: Sequence[Document]) -> list[str]:
    """The vocabulary, sorted."""
    count: Counter[str] = Counter()
    private: Counter[str] = Counter()
    from_: dict[str, set[str]] = defaultdict(set)
    public: set[str] = set()
    for document in documents:
        count.update(document.words)
        private.update(() if document.public else document.words)
        public |= document.words if document.public else set()
        for word in document.words:
            from_[word].add(document.source)
    return sorted(
        w
        for w, n in count.items()
        if n >= MIN_WORD_LOGS and len(from_[w]) >= 2 and (w in public or private[w] >= MIN_PRIVATE_CASES)
    )


def fit_text_model(documents: Sequence[tuple[Sequence[int], str]], vocabulary: Sequence[str]) -> Model:
    """A Model with only its text part; its `values` are 0. Needs documents of two or more causes.

    `documents`: of each the numbers of its words in `vocabulary`, and its cause.
    """
    import numpy as np

    vectors, idf = vectorised([words for words, _ in documents], len(vocabulary))
    causes, number, counts = np.unique([cause for _, cause in documents], return_inverse=True, return_counts=True)
    weight = (len(documents) / (len(causes) * counts))[number]  # all causes weigh the same
    *rows, intercepts = softmax_regression(vectors, number, weight, outcome_fit.WORD_PENALTY)
    return Model(
        causes=tuple(map(str, causes)),
        vocabulary={w: i for i, w in enumerate(vocabulary)},
        idf=outcome_fit.rounded(idf),
        intercepts=outcome_fit.rounded(intercepts),
        coefficients=outcome_fit.rounded(np.ravel(rows)),
        feature_weights=(0.0,) * len(FEATURE_NAMES),
        outcome=Trees((), 0.0),
    )


def vectorised(texts: Sequence[Sequence[int]], width: int) -> tuple[Any, Any]:
    """The TF-IDF matrix [texts, width] with rows of length 1, where a word counts once, and the inverse document frequency.

    As scikit-learn's TfidfVectorizer: ln((1 + texts) / (1 + texts with the word)) + 1.
    """
    import numpy as np
    from scipy.sparse import diags

    matrix = outcome_fit.words_matrix(texts, width)
    there = np.bincount(matrix.indices, minlength=width)
    idf = np.log((1 + len(texts)) / (1 + there)) + 1
    scaled = (matrix @ diags(idf)).tocsr()
    lengths = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
    return (diags(1 / np.where(lengths > 0, lengths, 1)) @ scaled).tocsr(), idf
