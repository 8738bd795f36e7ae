"""Example texts by task, written for this page; none is from a data set."""

EXAMPLES: dict[str, list[dict[str, str]]] = {
    "translation": [
        {"text": "A young woman in a red coat is feeding two ducks beside a frozen lake."},
        {"text": "Two children are building a small boat out of old newspapers."},
        {"text": "An old man with a white beard plays the violin in front of a bakery."},
        {
            "text": "A brown dog runs through the tall grass behind a girl who is carrying"
            " a yellow umbrella and a basket of apples."
        },
    ],
    "reading": [
        {
            "question": "Who repaired the lamp of the lighthouse?",
            "context": "For three winters the lighthouse at Skarvik stood dark. The lamp was"
            " repaired in 1911 by a clockmaker, Ida Moreau, who had never seen the sea before. She"
            " rowed out with her tools in a herring barrel, worked for nine days, and refused to"
            " be paid. The keeper named his boat after her.",
        },
        {
            "question": "Who painted the ceiling of the library?",
            "context": "The library was planned by Pieter Haas and paid for by the widow of a"
            " merchant. Its ceiling was painted by two brothers, Jan and Willem Roos, after the"
            " first painter, Karel Blom, had fallen ill.",
        },
        {
            "question": "When did the ferry stop running?",
            "context": "The ferry was built in 1902 and carried mail until 1938. It stopped running"
            " in the winter of 1951, two years after the bridge had been opened, and was sunk in"
            " 1960.",
        },
        {
            "question": "What did the bakers of the town sell on Sundays?",
            "context": "On weekdays the bakers of the town sold rye bread and rolls. On Sundays"
            " they sold small cakes with almonds, and a queue formed in front of every shop.",
        },
    ],
    "cloze": [
        {
            "document": "Nora put the kettle on the stove and called her brother. Peter came in"
            " from the garden with a basket of plums. \u201cThe plums are ripe,\u201d said Peter."
            " Nora washed the plums, and Peter sat down by the window. The kettle began to sing."
            " Their aunt had promised to come at four, but the road was wet, and the bus was late.",
            "query": "Then XXXXX took the kettle from the stove and made the tea.",
        },
    ],
    "language_model": [
        {"text": "The ship left the harbour in the morning and the captain of the ship"},
    ],
    "classification": [
        {"text": "A slow and tender film that never finds its ending, and is lovely all the same."},
        {"text": "Two hours of noise, without a single joke that lands."},
    ],
    "inference": [
        {
            "premise": "A man in a green jacket is repairing a bicycle in front of a shop.",
            "hypothesis": "Someone is working outdoors.",
        },
        {
            "premise": "Two women are singing on a small stage.",
            "hypothesis": "The women are asleep.",
        },
    ],
}
