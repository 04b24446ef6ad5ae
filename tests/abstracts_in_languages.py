"""Short abstracts in six languages, made up: of each a dozen subjects, with the three sentences that all share."""

SUBJECTS: dict[str, tuple[str, ...]] = {
    "zh": (
        *("蜜蜂的舞蹈", "候鸟的迁徙", "冰川的融化", "城市的噪声", "稻田的灌溉", "古籍的修复"),
        *("火山的喷发", "珊瑚的白化", "桥梁的振动", "儿童的词汇", "茶叶的香气", "地铁的客流"),
    ),
    "ja": (
        *("ミツバチのダンス", "渡り鳥の経路", "氷河の後退", "都市の騒音", "水田の灌漑", "古文書の修復"),
        *("火山の噴火", "サンゴの白化", "橋梁の振動", "幼児の語彙", "緑茶の香り", "地下鉄の混雑"),
    ),
    "hi": (
        *(
            "मधुमक्खियों का नृत्य",
            "पक्षियों का प्रवास",
            "हिमनदों का पिघलना",
            "शहरों का शोर",
            "खेतों की सिंचाई",
            "पांडुलिपियों का संरक्षण",
        ),
        *("ज्वालामुखी का विस्फोट", "मूंगों का क्षरण", "पुलों का कंपन", "बच्चों की शब्दावली", "चाय की सुगंध", "रेलगाड़ी की भीड़"),
    ),
    "ru": (
        *("танцы пчёл", "перелёты птиц", "таяние ледников", "городской шум", "орошение полей", "реставрация рукописей"),
        *(
            "извержения вулканов",
            "обесцвечивание кораллов",
            "колебания мостов",
            "словарь детей",
            "аромат чая",
            "толпы в метро",
        ),
    ),
    "ar": (
        *("رقص النحل", "هجرة الطيور", "ذوبان الجليد", "ضجيج المدن", "ري الحقول", "ترميم المخطوطات"),
        *("ثوران البراكين", "ابيضاض المرجان", "اهتزاز الجسور", "مفردات الأطفال", "رائحة الشاي", "ازدحام القطارات"),
    ),
    "de": (
        *("Tänze der Käfer", "Züge der Vögel", "Schwund der Gletscher", "Lärm der Städte", "Flüsse der Ebene"),
        *("Blätter der Bücher", "Ausbrüche der Vulkane", "Bleiche der Riffe", "Schwünge der Brücken"),
        *("Wörter der Kinder", "Düfte der Tees", "Gedränge der Züge"),
    ),
}
SENTENCES: dict[str, tuple[str, str, str]] = {
    "zh": (
        "本文研究{}，并收集了第{}组数据。",
        "结果表明，该现象与温度有关（见图 2）！",
        "这一发现是否普遍适用，仍需讨论？",
    ),
    "ja": (
        "本研究では{}を調べ、第{}組の資料を集めた。",
        "その結果、気温との関係が明らかになった。",
        "この関係は他の地域でも成り立つか？",
    ),
    "hi": (
        "इस लेख का विषय है {}, जिसके लिए नमूना {} लिया गया।",
        "डॉ. शर्मा के अनुसार तापमान का प्रभाव स्पष्ट है।",
        "क्या यह परिणाम अन्य स्थानों पर भी लागू होता है?",
    ),
    "ru": (
        "Предмет работы — {}, т. е. выборка {} из архива.",
        "Влияние температуры показано на рис. 2 и в табл. 3.",
        "Верно ли это для других мест?",
    ),
    "ar": (
        "موضوع هذا البحث هو {}، وقد جمعنا العينة {} من الميدان.",
        "هل تؤثر الحرارة في النتائج؟",
        "نعم، فالتأثير واضح في الجدول الثاني.",
    ),
    "de": (
        "Thema sind {}, d. h. Stichprobe {} aus dem Archiv.",
        "Der Einfluss der Wärme ist groß, vgl. Abb. 2 von Prof. Müller.",
        "Gilt das auch an anderen Orten?",
    ),
}


def records(language: str) -> list[dict[str, str]]:
    """The papers of a language as records, each abstract in one string."""
    between = "" if language in ("zh", "ja") else " "
    return [
        {
            "paper_id": f"{language}{number}",
            "title": subject,
            "abstract": between.join(SENTENCES[language]).format(subject, number),
        }
        for number, subject in enumerate(SUBJECTS[language])
    ]


def sentences(language: str, number: int) -> tuple[str, ...]:
    """The sentences of a paper."""
    first, *others = SENTENCES[language]
    return (first.format(SUBJECTS[language][number], number), *others)
