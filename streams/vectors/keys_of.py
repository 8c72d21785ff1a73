"""Writes keys_of.json: hashes of rows by the `xxhash64` of a real Spark, the oracle of `key_of`.

    python3 streams/vectors/keys_of.py          # needs pyspark and Java; opens no port to others

A Spark that gives other hashes would change the ids of every table, so the tests read the file and
do not ask the Spark that happens to be installed.
"""

import json
import pathlib

from pyspark.sql import SparkSession

TEXTS = [
    "",
    "a",
    "user 12",
    "twelve bytes",
    "thirteen byte",
    "Größe",
    "日本語",
    "x" * 31,
    "x" * 32,
    "y" * 33,
    "z" * 100,
    "0b5e2d9c-6a0f-4f1e-9c3b-2d1f7a8e6b54",
]
BIGINTS = [0, 1, -1, 42, 2**31 - 1, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63)]
BINARIES = ["", "00", "ff00ff", "00" * 40]
DATES = [0, 1, -1, 20000, -719162, 2932896]
TIMESTAMPS = [0, 1, -1, 1_764_000_000_123_456, -62_135_596_800_000_000]


def cases():
    for kind, values in [
        ("text", TEXTS),
        ("bigint", [str(n) for n in BIGINTS]),
        ("binary", BINARIES),
        ("date", [str(n) for n in DATES]),
        ("timestamp", [str(n) for n in TIMESTAMPS]),
        ("boolean", [True, False]),
    ]:
        yield from ([{"type": kind, "value": value}] for value in values)
    text, number = {"type": "text", "value": "user 12"}, {"type": "bigint", "value": "-7"}
    none, day = {"type": "text", "value": None}, {"type": "date", "value": "20000"}
    time = {"type": "timestamp", "value": "1764000000123456"}
    yield from ([text, number], [number, text], [none, number], [number, none], [text, text])
    yield [
        text,
        number,
        day,
        time,
        {"type": "boolean", "value": True},
        {"type": "binary", "value": "0102"},
    ]


def sql(cell):
    kind, value = cell["type"], cell["value"]
    if value is None:
        return "cast(null as string)"
    return {
        "text": lambda: f"decode(unhex('{value.encode().hex()}'), 'UTF-8')" if value else "''",
        "bigint": lambda: f"cast('{value}' as bigint)",
        "binary": lambda: f"unhex('{value}')",
        "date": lambda: f"date_from_unix_date({value})",
        "timestamp": lambda: f"timestamp_micros({value})",
        "boolean": lambda: str(value).lower(),
    }[kind]()


def main():
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    made = []
    for columns in cases():
        row = spark.sql(f"select xxhash64({', '.join(map(sql, columns))})").first()
        made.append({"columns": columns, "xxhash64": str(row[0])})
    lines = ",\n".join("    " + json.dumps(case, ensure_ascii=False) for case in made)
    head = f'{{\n  "source": "xxhash64 of Spark {spark.version}",\n  "cases": [\n'
    pathlib.Path(__file__).with_name("keys_of.json").write_text(
        f"{head}{lines}\n  ]\n}}\n", "utf-8"
    )
    spark.stop()


if __name__ == "__main__":
    main()
