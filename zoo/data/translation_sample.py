"""Generated sample for translation: small, built in, the same on every machine.

The source is a date as people write it, in English, German, French or Spanish, in figures or in
words, often with the day of the week: `Wednesday, the fifth of March, nineteen eighty-six`, or
`5. März 1986`, or `1986/3/5`. The target is the same date in ISO 8601: `1986-03-05`. Year, month
and day come in any order, so a translator has to look for them. No date occurs in two parts, so
remembering dates does not help.
"""

from datetime import date, timedelta

import numpy as np
import pandas as pd

SAMPLE_PAIRS = {"train": 10_000, "val": 400, "test": 400}

_SEED = 1582  # also the year of the calendar
_FIRST, _LAST = date(1950, 1, 1), date(2029, 12, 31)
_HELD_OUT_DATES = 800  # of each of "val" and "test"

_MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
    "diciembre",
    "short": "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    "roman": "I II III IV V VI VII VIII IX X XI XII",
}
_WEEKDAYS = {
    "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "de": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "es": "lunes martes miércoles jueves viernes sábado domingo",
}
_UNITS = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen",
    "de": "null ein zwei drei vier fünf sechs sieben acht neun",
}
_ORDINALS = {
    "en": "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh "
    "twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth",
    "de": "nullte erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte elfte "
    "zwölfte dreizehnte vierzehnte fünfzehnte sechzehnte siebzehnte achtzehnte neunzehnte",
}
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety"

# In numeric dates the day precedes the month unless the year comes first.
STYLES = (
    "{day} {en} {year}",
    "{en} {day}, {year}",
    "{en} {day}{th}, {year}",
    "the {day}{th} of {en}, {year}",
    "{en_weekday}, {day} {en} {year}",
    "{en_weekday}, {en} {day}, {year}",
    "{short} {day}, {year}",
    "{day} {short} {year}",
    "{en} the {en_ordinal}, {year}",
    "{en_weekday}, the {en_ordinal} of {en}, {year_words}",
    "{en} {en_ordinal}, {year_words}",
    "{year_words}, {en} the {day}{th}",
    "in {year}, on {en} {day}",
    "{day}. {de} {year}",
    "am {day}. {de} {year}",
    "{de_weekday}, {day}. {de} {year}",
    "{de_weekday}, der {day}. {de} {year}",
    "der {de_ordinal} {de} {year}",
    "{de_weekday}, der {de_ordinal} {de} {year}",
    "im Jahr {year} am {day}. {de}",
    "{fr_day} {fr} {year}",
    "le {fr_day} {fr} {year}",
    "{fr_weekday} {fr_day} {fr} {year}",
    "le {fr_weekday} {fr_day} {fr} {year}",
    "en {year}, le {fr_day} {fr}",
    "{day} de {es} de {year}",
    "el {es_weekday} {day} de {es} de {year}",
    "{es_weekday}, {day} de {es} de {year}",
    "en {year}, el {day} de {es}",
    "{day}/{month}/{year}",
    "{day} - {month} - {year}",
    "{year}/{month}/{day}",
    "{year} {month} {day}",
    "{day} {roman} {year}",
)
"""Formats of dates; the names in braces are those of `date_fields`."""


def translation_sample(split: str, pairs: int | None = None) -> pd.DataFrame:
    """Generates one part of the sample.

    Args:
        split: "train", "val" or "test".
        pairs: How many; by default `SAMPLE_PAIRS[split]`. Fewer are a prefix of more.

    Returns:
        One row per pair, `source` and `target` (strings), as from
        `zoo.data.parallel.read_parallel`. A date may recur, even in the same words.

    Raises:
        ValueError: There is no such split, or the number of pairs is not positive.
    """
    if split not in SAMPLE_PAIRS:
        raise ValueError(f"split must be one of {list(SAMPLE_PAIRS)}, got {split!r}")
    wanted = SAMPLE_PAIRS[split] if pairs is None else pairs
    if wanted < 1:
        raise ValueError(f"pairs must be at least 1, got {wanted}")
    dates = _dates(split)
    generator = np.random.default_rng([_SEED, list(SAMPLE_PAIRS).index(split)])
    choices = generator.random((wanted, 2))
    sources, targets = [], []
    for of_dates, of_styles in choices:
        day = dates[int(of_dates * len(dates))]
        style = STYLES[int(of_styles * len(STYLES))]
        sources.append(style.format_map(date_fields(day)))
        targets.append(day.isoformat())
    frame = pd.DataFrame({"source": sources, "target": targets})
    frame.attrs["dropped"] = []
    return frame


def date_fields(day: date) -> dict[str, str]:
    """Computes every field of a date that a format may use."""
    month, weekday = day.month - 1, day.weekday()
    fields = {name: names.split()[month] for name, names in _MONTHS.items()}
    fields |= {f"{name}_weekday": names.split()[weekday] for name, names in _WEEKDAYS.items()}
    return fields | {
        "day": str(day.day),
        "month": str(day.month),
        "year": str(day.year),
        "th": _ordinal_ending(day.day),
        "en_ordinal": _english_ordinal(day.day),
        "de_ordinal": _german_ordinal(day.day),
        "fr_day": "1er" if day.day == 1 else str(day.day),
        "year_words": _english_year(day.year),
    }


def _dates(split: str) -> list[date]:
    """Returns the dates of a part; every date belongs to exactly one part."""
    days = (_LAST - _FIRST).days + 1
    order = np.random.default_rng(_SEED).permutation(days).tolist()
    held_out = {
        "test": order[:_HELD_OUT_DATES],
        "val": order[_HELD_OUT_DATES : 2 * _HELD_OUT_DATES],
    }
    chosen = held_out.get(split, order[2 * _HELD_OUT_DATES :])
    return [_FIRST + timedelta(days=number) for number in chosen]


def _ordinal_ending(number: int) -> str:
    if 10 <= number % 100 <= 20:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _english_ordinal(number: int) -> str:
    """Returns first, twentieth, twenty-first; for 1 to 99."""
    if number < 20:
        return _ORDINALS["en"].split()[number]
    tens = _TENS.split()[number // 10]
    if number % 10 == 0:
        return f"{tens[:-1]}ieth"
    return f"{tens}-{_ORDINALS['en'].split()[number % 10]}"


def _german_ordinal(number: int) -> str:
    """Returns erste, zwanzigste, einundzwanzigste; for 1 to 39."""
    if number < 20:
        return _ORDINALS["de"].split()[number]
    tens = "zwanzigste" if number < 30 else "dreißigste"
    return tens if number % 10 == 0 else f"{_UNITS['de'].split()[number % 10]}und{tens}"


def _english_number(number: int) -> str:
    """Returns seven, twelve, forty, forty-two; for 0 to 99."""
    units = _UNITS["en"].split()
    if number < 20:
        return units[number]
    tens = _TENS.split()[number // 10]
    return tens if number % 10 == 0 else f"{tens}-{units[number % 10]}"


def _english_year(year: int) -> str:
    """Returns nineteen fifty, two thousand, two thousand and nine, twenty ten."""
    if 2000 <= year < 2010:
        return f"two thousand and {_english_number(year % 10)}" if year % 10 else "two thousand"
    return f"{_english_number(year // 100)} {_english_number(year % 100)}"
