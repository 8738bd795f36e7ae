"""Names of folders that some program or other takes for something else than a name."""

ODD_NAMES = (
    "lr=[1,2]",
    "a*b?c",
    "back\\slash\\",
    'it\'s "quoted" and spaced',
    "Modell für 漢字",
    "-dash",
    "{a,b} $HOME %41 #1",
    "x" * 200,
)
