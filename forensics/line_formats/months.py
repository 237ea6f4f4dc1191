"""Month numbers from the C library's abbreviated month names in some thirty languages.

`[Di Aug 12 03:54:03 2025]`, `[mar. janv. 17 02:59:56 2023]`, `[五 11月 19 10:33:00 2021]`: dmesg and syslog use the locale of the
shell. In these languages no name means two different months, so the language need not be known.
Source: the `abmon` and `ab_alt_mon` lines of glibc's localedata.
"""

_MONTH_NAMES = (
    "jan gen ene ian jaan janv jän led oca saus sty tammi urt xan ιαν січ янв яну јан",
    "feb febr fev févr helmi lut ots vas veebr úno şub φεβ лют фев",
    "mar bře kov maalis març mars mrt márc mär märts μάρ μαρ бер мар",
    "apr abr api april avr avril bal dub huhti kwi nis ápr απρ апр кві",
    "may geg kvě mag mai maig maj mayo mei máj touko μάι μαΐ май мая мај тра",
    "jun birž cze eka giu haz iun juin juni juny juuni jún jūn kesä xuñ čen ιουν ιούν июн чер юни јун",
    "jul heinä iul juil juli juuli júl jūl liep lip lug tem uzt xul čec ιουλ ιούλ июл лип юли јул",
    "aug abu ag ago agu août avg ağu elo rugp sie srp αυγ αύγ авг сер",
    "sep eyl ira rugs sept set syys szept wrz zář σεπ вер сен сеп",
    "oct eki loka okt ott out paź spal urr říj οκτ жов окт",
    "nov aza kas lapkr lis marras νοέ νοε лис нов ное ноя",
    "dec abe ara des dets dez dic déc gru gruod joulu pro δεκ дек дец",
)
MONTH_OF_NAME = {name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}


def month(name: str) -> int | None:
    """The number (1 to 12) of a month's name in any of the languages; None for another word."""
    name = name.strip().rstrip(".").lower()
    if name[-1:] in ("月", "월") and name[:-1].isdecimal():
        return int(name[:-1])
    return MONTH_OF_NAME.get(name)
