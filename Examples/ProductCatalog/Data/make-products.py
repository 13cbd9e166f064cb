#!/usr/bin/env python3
"""Makes products.json from descriptions.tsv and the package index of apt.

Run it on Debian 12 after `apt-get update`:

    Data/make-products.py > Sources/CatalogModel/Resources/products.json

descriptions.tsv has one program a line: package, title and description, with a tab between them.
"""

import json
import pathlib
import re
import subprocess
import sys
import uuid

SOURCE = (
    'Debian 12 "bookworm" main/amd64 package index, with security updates, 2026-11; '
    "titles and descriptions written for this project"
)


def read_descriptions(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        package, title, description = line.split("\t")
        yield package, title, description


def index_fields(package):
    command = ["apt-cache", "show", "--no-all-versions", package]
    stanza = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    fields = dict(re.findall(r"^([A-Za-z-]+): (.+)$", stanza, re.MULTILINE))
    if not re.match("pool/(updates/)?main/", fields["Filename"]):
        sys.exit(f"{package} does not come from Debian main.")
    return fields


def make_product(package, title, description):
    fields = index_fields(package)
    product = {
        "id": stable_identifier(package),
        "package": package,
        "title": title,
        "description": description,
        "version": fields["Version"],
        "section": fields["Section"],
        "homepage": fields.get("Homepage"),
        "downloadBytes": int(fields["Size"]),
        "installedKiB": int(fields["Installed-Size"]),
    }
    return {key: value for key, value in product.items() if value is not None}


def stable_identifier(package):
    page = f"https://packages.debian.org/bookworm/{package}"
    return str(uuid.uuid5(uuid.NAMESPACE_URL, page)).upper()


def main():
    descriptions = pathlib.Path(__file__).with_name("descriptions.tsv")
    products = [make_product(*row) for row in read_descriptions(descriptions)]
    products.sort(key=lambda product: product["title"].casefold())
    catalog = {"source": SOURCE, "products": products}
    print(json.dumps(catalog, ensure_ascii=False, indent=2))


if __name__ == "__main__":
    main()
