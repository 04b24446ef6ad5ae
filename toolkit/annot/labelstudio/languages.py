"""The names of languages, for the one sentence of the screen that speaks of the collection's."""

from __future__ import annotations

NAMES = {
    **{"ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech", "da": "Danish"},
    **{"de": "German", "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian", "eu": "Basque"},
    **{"fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish", "gl": "Galician", "he": "Hebrew"},
    **{"hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "is": "Icelandic", "it": "Italian"},
    **{"ja": "Japanese", "ko": "Korean", "la": "Latin", "lt": "Lithuanian", "lv": "Latvian", "ms": "Malay"},
    **{"nb": "Norwegian", "nl": "Dutch", "nn": "Norwegian", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese"},
    **{"ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovene", "sr": "Serbian", "sv": "Swedish"},
    **{"sw": "Swahili", "ta": "Tamil", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu"},
    **{"vi": "Vietnamese", "zh": "Chinese"},
}
"""By the first part of the BCP 47 tag."""

UNNAMED = "the language of the collection"


def language_name(tag: str) -> str:
    """The English name of a language by its BCP 47 tag; words that always hold where the name is not known.

    >>> language_name("pt-BR")
    'Portuguese'
    """
    return NAMES.get(tag.replace("_", "-").split("-")[0].lower(), UNNAMED)
