#!/usr/bin/env python3
"""Reads archives, from the specification alone, and prints what is in them.

    read-archive.py VECTOR.txt ...
    read-archive.py (--key HEX | --passphrase TEXT) [--context FIELD ...] ARCHIVE ...

A vector names what opens it, and its context; README.md in this folder says how. For each
file there is a line with its name, then either the lines `version`, `schema`,
`writable` and `record` of a vector, or one line `refused: why`. With
`--derivations` every key and MAC comes before them.

It is strict: it reads every byte, and one that is wrong refuses the file. It
shares no code with the Swift library and is written from archive-format.md, so
that a mistake in either shows. It needs PyNaCl: pip install pynacl
"""

import argparse
import hashlib
import hmac
import pathlib
import sys

try:
    from nacl.bindings import crypto_aead_chacha20poly1305_ietf_decrypt
    from nacl.exceptions import CryptoError
    from nacl.pwhash import argon2id
except ImportError:
    sys.exit("PyNaCl is not installed. Install it with: pip install pynacl")


class Refused(Exception):
    """The archive breaks a rule; the text says which."""


def require(condition, why):
    if not condition:
        raise Refused(why)


# Keys

ZERO_SALT = bytes(16)


def kdf(label, key, size, *inputs, salt=ZERO_SALT):
    return hashlib.blake2b(
        b"".join(inputs), digest_size=size, key=key, salt=salt,
        person=label.encode("ascii").ljust(16, b"\0")).digest()


def plain_hash(label, *inputs):
    return kdf(label, b"", 32, *inputs)


def u32(number):
    return number.to_bytes(4, "little")


def u64(number):
    return number.to_bytes(8, "little")


def opened(key, nonce, box, what):
    try:
        return crypto_aead_chacha20poly1305_ietf_decrypt(box, None, nonce, key)
    except CryptoError:
        raise Refused(f"{what} does not open") from None


# Bytes


class Reader:
    """A cursor that refuses to read past the end."""

    def __init__(self, data, start=0, end=None):
        self.data, self.at, self.end = data, start, len(data) if end is None else end

    def bytes(self, count):
        require(count <= self.end - self.at, "a length goes past the end")
        self.at += count
        return self.data[self.at - count:self.at]

    def integer(self, size):
        return int.from_bytes(self.bytes(size), "little")

    def zeros(self, count):
        require(self.bytes(count) == bytes(count), "zeros are not zeros")

    def varint(self):
        start = self.at
        first = self.integer(1)
        if first == 0:
            value = self.integer(8)
        else:
            following = (first & -first).bit_length() - 1
            self.at = start
            value = self.integer(following + 1) >> (following + 1)
        require(varint(value) == self.data[start:self.at], "a varint is longer than needed")
        return value

    def text(self, count):
        try:
            return self.bytes(count).decode("utf-8")
        except UnicodeDecodeError:
            raise Refused("text is not UTF-8") from None


def varint(value):
    following = max(0, (value.bit_length() - 1) // 7)
    if following >= 8:
        return b"\0" + u64(value)
    return ((value << 1 | 1) << following).to_bytes(following + 1, "little")


# Header and slots

MAGIC = bytes.fromhex("89524b410d0a1a0a")
RAW_KEY, PASSPHRASE = 1, 2


class Header:
    def __init__(self, data):
        require(data[:8] == MAGIC, "this is no archive")
        reader = Reader(data, 8)
        major, self.minor, self.size = (reader.integer(n) for n in (1, 1, 2))
        require(major == 1, "another major version")
        required, writer, _optional = (reader.integer(4) for _ in range(3))
        suite, self.chunk_size, slot_count = (reader.integer(1) for _ in range(3))
        require(1 <= slot_count <= 8, "the number of slots")
        require(self.size == 160 + 128 * slot_count, "the header's length")
        require(self.size <= len(data), "the header ends early")
        blank = data[:32] + bytes(8) + data[40:self.size]
        require(data[32:40] == plain_hash("RKA1 checksum", blank)[:8], "the header's checksum")
        require(required == 0, "a feature that a reader must know")
        require(suite == 1, "another suite")
        require(12 <= self.chunk_size <= 20, "the chunk size")
        reader.zeros(5)
        reader.bytes(8)
        self.writable = writer == 0
        self.identifier, self.salt = reader.bytes(16), reader.bytes(16)
        self.base_generation = reader.integer(8)
        self.predecessor = reader.bytes(32)
        reader.zeros(16)
        self.slots = [Slot(reader.bytes(128)) for _ in range(slot_count)]
        self.authenticated, self.mac = blank[:-32], blank[-32:]
        self.binding = self.identifier + bytes([major, suite])
        self.head = (self.identifier + self.salt + u64(self.base_generation) + self.predecessor
                     + bytes([major, suite, self.chunk_size]) + u32(required))


class Slot:
    def __init__(self, data):
        reader = Reader(data)
        self.parameters, self.checked = data[:12], data[:116]
        self.type, lanes = reader.integer(1), reader.integer(1)
        zeros, self.passes, self.memory = reader.integer(2), reader.integer(4), reader.integer(4)
        self.salt = reader.bytes(16)
        reader.bytes(8)
        self.commitment, self.wrapped, self.check = (reader.bytes(n) for n in (32, 48, 8))
        if self.type == RAW_KEY:
            require(self.parameters[1:] == bytes(11), "the parameters of a raw key")
            reader.zeros(4)
        elif self.type == PASSPHRASE:
            require(lanes == 1 and zeros == 0, "the parameters of a passphrase")
            require(1 <= self.passes <= 16 and 8 <= self.memory <= 1 << 18, "Argon2id's cost")
            reader.zeros(4)

    def master_key(self, secret):
        """The key that the slot is wrapped with, from a secret of its type."""
        kind, value = secret
        if kind == RAW_KEY:
            return value
        return argon2id.kdf(32, value, self.salt, opslimit=self.passes,
                            memlimit=self.memory << 10)


class Keys:
    """What follows from header, key and context; `trace` hears of each step."""

    def __init__(self, header, secret, context, trace):
        context_hash = plain_hash(
            "RKA1 context", *(varint(len(field)) + field for field in context))
        trace("context", context_hash)
        data_key = self.data_key(header, secret, context_hash, trace)
        trace("head", header.head)
        both = kdf("RKA1 file keys", data_key, 64, header.head, context_hash, salt=header.salt)
        header_key, self.root = both[:32], both[32:]
        mac = kdf("RKA1 header MAC", header_key, 32, header.authenticated)
        self.chain = kdf("RKA1 chain keys", self.root, 64, header.head)[:32]
        self.genesis = kdf("RKA1 genesis", self.root, 32, header.head)
        trace("header key", header_key)
        trace("root key", self.root)
        trace("chain key", self.chain)
        trace("header MAC", mac)
        trace("MAC 0", self.genesis)
        require(hmac.compare_digest(mac, header.mac), "the header's MAC")

    @staticmethod
    def data_key(header, secret, context_hash, trace):
        is_known = False
        slots = [slot for slot in header.slots if slot.type == secret[0]]
        for slot in slots if secret[0] == RAW_KEY else slots[:2]:
            master = slot.master_key(secret)
            both = kdf("RKA1 slot", master, 64, header.binding, slot.parameters, context_hash,
                       salt=slot.salt)
            wrapping_key, commitment = both[:32], both[32:]
            check = kdf("RKA1 key check", master, 32, header.binding, slot.checked,
                        salt=slot.salt)[:8]
            if hmac.compare_digest(commitment, slot.commitment):
                trace("binding", header.binding)
                trace("wrapping key", wrapping_key)
                trace("commitment", commitment)
                trace("key check", check)
                data_key = opened(wrapping_key, bytes(12), slot.wrapped, "the wrapped key")
                trace("data key", data_key)
                return data_key
            is_known = is_known or hmac.compare_digest(check, slot.check)
        raise Refused("another context" if is_known else "another key")


# Commits

SNAPSHOT, JOURNAL = 1, 2


def commit_ranges(data, start):
    """The places of the commits, from the last trailer backwards."""
    ranges, end = [], len(data)
    while end > start:
        require(end - start >= 32 + 64 and data[end - 64:end - 60] == b"RKAt", "no trailer")
        size = int.from_bytes(data[end - 48:end - 40], "little")
        require(32 + 64 < size <= end - start, "the length of a commit")
        ranges.append((end - size, end))
        end -= size
    require(ranges, "no commit")
    return ranges[::-1]


def content_of(data, header, keys, version, number, trace):
    """Checks a commit; gives its content, the length of its footer, and its version.

    Its number is 0 for the snapshot; `version` is that of the one before it.
    """
    generation, previous = version
    flags = SNAPSHOT if number == 0 else JOURNAL
    commit_header, trailer, mac = data[:32], data[-64:-32], data[-32:]
    reader = Reader(commit_header)
    require(reader.bytes(4) == b"RKAc", "the magic of a commit")
    own_flags, own_generation, salt = reader.integer(4), reader.integer(8), reader.bytes(16)
    expected = kdf("RKA1 chain MAC", keys.chain, 32, commit_header, trailer, previous, salt=salt)
    trace(f"MAC {number + 1}", expected)
    require(hmac.compare_digest(expected, mac), "a chain MAC")
    reader = Reader(trailer, 4)
    footer_size, trailer_generation = reader.integer(4), reader.integer(8)
    require(reader.integer(8) == len(data), "the length of a commit")
    reader.zeros(8)
    require(own_flags == flags, "the flags of a commit")
    require(own_generation == trailer_generation == generation + 1 < 1 << 64, "a generation")
    key = kdf("RKA1 commit key", keys.root, 32, u64(own_generation), u32(flags), previous,
              salt=salt)
    trace("commit key", key)
    content = chunks(data[32:-64], key, 1 << header.chunk_size)
    trace("content", content)
    return content, footer_size, (own_generation, mac)


def chunks(data, key, full):
    reader, content, number, is_last = Reader(data), b"", 0, False
    while not is_last:
        word = reader.integer(4)
        size, is_last = word & 0x7FFFFFFF, word >> 31 == 1
        require(16 < size <= full + 16 if is_last else size == full + 16, "a chunk's length")
        content += opened(key, u64(number) + u32(is_last), reader.bytes(size), "a chunk")
        number += 1
    require(reader.at == reader.end, "bytes after the last chunk")
    return content


# The content of a commit

RECORD, SYMBOLS, INDEX, FOOTER = 1, 3, 5, 7


class Content:
    """The frames of a commit, each where index and footer say."""

    def __init__(self, content, footer_size, is_snapshot):
        require(footer_size <= 1 << 20, "the footer's limit")
        require(2 <= footer_size <= len(content), "the footer's length")
        start = len(content) - footer_size
        footer = Reader(content, start)
        require(footer.integer(1) == FOOTER and footer.varint() == footer.end - footer.at,
                "the footer")
        self.schema, count, record_bytes, *ranges = (footer.varint() for _ in range(7))
        require(self.schema < 1 << 32, "the schema")
        previous_type = -1
        while footer.at < footer.end:
            kind, size = footer.integer(2), footer.integer(4)
            require(kind > previous_type, "the order of extension fields")
            require(kind < 1 << 15, "an extension field that a reader must know")
            footer.bytes(size)
            previous_type = kind

        places = self.frames(content, start)
        require([p[0] for p in places] == [RECORD] * (len(places) - 2) + [SYMBOLS, INDEX],
                "the order of frames")
        (_, _, *symbols), (_, _, *index) = places[-2:]
        require(ranges == [symbols[0], symbols[1], index[0], index[1]], "the footer's ranges")
        self.symbols = self.names(Reader(content, symbols[0], sum(symbols)))
        require(index[1] == 16 * count, "the number of entries")
        records = {at: (payload, size) for kind, at, payload, size in places[:-2]}
        require(sum(size for _, size in records.values()) == record_bytes, "the bytes of records")

        self.records, self.removed, previous = {}, [], 0
        reader = Reader(content, index[0], sum(index))
        for _ in range(count):
            identifier, at, size = reader.integer(8), reader.integer(5), reader.integer(3)
            require(identifier > previous, "the order of the index")
            previous = identifier
            if size == 0:
                require(at == 0 and not is_snapshot, "a removed record")
                self.removed.append(identifier)
                continue
            require(at in records and records[at][1] == size, "an entry of the index")
            payload, _ = records.pop(at)
            require(size >= 8 and content[payload:payload + 8] == u64(identifier),
                    "the identifier of a record")
            self.records[identifier] = content[payload + 8:payload + size]
        require(not records, "a record that is not in the index")

    @staticmethod
    def frames(content, end):
        """Kind, offset, and offset and size of the payload of the known frames."""
        reader, places = Reader(content, 0, end), []
        while reader.at < end:
            at, kind, size = reader.at, reader.integer(1), reader.varint()
            payload = reader.at
            reader.bytes(size)
            if kind in (RECORD, SYMBOLS, INDEX, FOOTER):
                places.append((kind, at, payload, size))
            else:
                require(kind % 2 == 0, "a frame that a reader must know")
        require(len(places) >= 2, "frames are missing")
        return places

    @staticmethod
    def names(reader):
        count = reader.varint()
        require(count <= 1 << 16, "the number of symbols")
        names = []
        for _ in range(count):
            size = reader.varint()
            require(size <= 1024, "the length of a symbol")
            names.append(reader.text(size))
        require(reader.at == reader.end, "bytes after the symbols")
        return names


def check_symbols(names):
    require(len(names) <= 1 << 16, "the number of symbols")
    require(sum(len(name.encode()) for name in names) <= 1 << 20, "the bytes of symbols")
    require(len(set(names)) == len(names), "a symbol twice")


# Values

PACKED = {1: ("int8", 1, True), 2: ("int16", 2, True), 3: ("int32", 4, True),
          4: ("int64", 8, True), 5: ("uint64", 8, False), 6: ("float", 4, None),
          7: ("double", 8, None)}


def quoted(text):
    def escaped(character):
        if character in '"\\':
            return "\\" + character
        return character if " " <= character <= "~" else f"\\u{{{ord(character):x}}}"
    return '"' + "".join(map(escaped, text)) + '"'


class Values:
    """The values of records in the notation of the vectors."""

    def __init__(self, symbols):
        self.symbols = symbols

    def record(self, data):
        reader = Reader(data)
        require(data and (0x90 <= data[0] <= 0x9F or data[0] == 0xAD), "a record that is no map")
        text = self.value(reader, 0)
        require(reader.at == reader.end, "bytes after a record")
        return text

    def name(self, reader, limit):
        word = reader.varint()
        number = word >> 1
        if word % 2 == 0:
            require(number < len(self.symbols), "a symbol that is not there")
            name, form = self.symbols[number], ""
        else:
            name, form = reader.text(number), "inline "
            require(name not in self.symbols, "a name that has a symbol")
        require(len(name.encode()) <= limit, "the length of a name")
        return f"{form}{quoted(name)}"

    def value(self, reader, depth):
        tag = reader.integer(1)
        if tag < 0x40:
            return str(tag)
        if tag < 0x50:
            return str(-1 - (tag - 0x40))
        if tag < 0x80:
            return quoted(reader.text(tag - 0x50))
        if tag < 0x90:
            return self.array(reader, tag - 0x80, depth)
        if tag < 0xA0:
            return self.map(reader, tag - 0x90, depth)
        if tag in (0xA0, 0xA1, 0xA2):
            return ("null", "false", "true")[tag - 0xA0]
        if tag == 0xA3:
            number = reader.varint()
            require(number >= 64, "the long form of a short integer")
            return str(number)
        if tag == 0xA4:
            number = reader.varint()
            require(16 <= number < 1 << 63, "a negative integer")
            return str(-1 - number)
        if tag in (0xA5, 0xA6, 0xA7):
            name, size = (("float", 4), ("double", 8), ("date", 8))[tag - 0xA5]
            return f"{name}({reader.bytes(size)[::-1].hex()})"
        if tag == 0xA8:
            return f"uuid({reader.bytes(16).hex()})"
        if tag == 0xA9:
            return f"url({quoted(reader.text(self.size(reader)))})"
        if tag == 0xAA:
            size = self.size(reader)
            require(size >= 48, "the long form of a short string")
            return quoted(reader.text(size))
        if tag == 0xAB:
            return f"bytes({reader.bytes(self.size(reader)).hex()})"
        if tag in (0xAC, 0xAD):
            count = reader.varint()
            require(count >= 16, "the long form of a short container")
            return (self.array if tag == 0xAC else self.map)(reader, count, depth)
        if tag == 0xAE:
            return self.packed(reader)
        if tag == 0xAF:
            return f"record({reader.varint()})"
        if tag == 0xB2:
            kind = reader.varint()
            require(kind % 2 == 0, "an extension that is needed")
            return f"extension({kind}, {reader.bytes(reader.varint()).hex()})"
        if tag == 0xB3:
            return f"name({self.name(reader, 1024)})"
        raise Refused("a tag without meaning")

    @staticmethod
    def size(reader):
        size = reader.varint()
        require(size < 1 << 24, "the limit of strings and bytes")
        return size

    @staticmethod
    def inner(reader, count, least, depth):
        require(depth < 128, "too deep")
        size = reader.varint()
        start = reader.at
        reader.bytes(size)
        require(count * least <= size, "more elements than bytes")
        return Reader(reader.data, start, reader.at)

    def array(self, reader, count, depth):
        inner = self.inner(reader, count, 1, depth)
        elements = [self.value(inner, depth + 1) for _ in range(count)]
        require(inner.at == inner.end, "bytes after an array")
        return f"[{', '.join(elements)}]"

    def map(self, reader, count, depth):
        inner = self.inner(reader, count, 2, depth)
        entries, names, previous = [], set(), None
        for _ in range(count):
            word = inner.varint()
            number = word >> 1
            if word % 2 == 0:
                require(number < len(self.symbols), "a symbol that is not there")
                key, name, form = (0, number), self.symbols[number], ""
            else:
                require(number <= 1024, "the length of a key")
                name = inner.text(number)
                key, form = (1, name.encode()), "inline "
            require(previous is None or previous < key, "the order of keys")
            previous = key
            require(name not in names, "a key twice")
            names.add(name)
            entries.append(f"{form}{quoted(name)}: {self.value(inner, depth + 1)}")
        require(inner.at == inner.end, "bytes after a map")
        return f"{{{', '.join(entries)}}}"

    @staticmethod
    def packed(reader):
        kind = reader.integer(1)
        require(kind in PACKED, "a type of packed numbers")
        name, width, signed = PACKED[kind]
        data = reader.bytes(reader.varint())
        require(len(data) % width == 0, "a part of a packed number")
        parts = [data[at:at + width] for at in range(0, len(data), width)]
        if signed is None:
            return f"{name}[{', '.join(part[::-1].hex() for part in parts)}]"
        numbers = [int.from_bytes(part, "little", signed=signed) for part in parts]
        low, high = min(numbers, default=0), max(numbers, default=0)
        for least, (_, size, is_signed) in sorted(PACKED.items())[:5]:
            if is_signed and -1 << 8 * size - 1 <= low and high < 1 << 8 * size - 1:
                break
        require(kind == least, "packed integers that are wider than needed")
        return f"{name}[{', '.join(map(str, numbers))}]"


# A whole archive


def read(data, secret, context, trace):
    """The lines of an archive."""
    header = Header(data)
    keys = Keys(header, secret, context, trace)
    version, symbols, records, schema = (header.base_generation, keys.genesis), [], {}, 0
    for number, (start, end) in enumerate(commit_ranges(data, header.size)):
        content, footer_size, version = content_of(
            data[start:end], header, keys, version, number, trace)
        commit = Content(content, footer_size, is_snapshot=number == 0)
        symbols += commit.symbols
        check_symbols(symbols)
        records.update(commit.records)
        for identifier in commit.removed:
            records.pop(identifier, None)
        schema = commit.schema
    values = Values(symbols)
    return [
        f"version: {version[0]} {version[1].hex()}",
        f"schema: {schema}",
        f"writable: {'yes' if header.writable else 'no'}",
    ] + [f"record: {identifier} {values.record(records[identifier])}"
         for identifier in sorted(records)]


SECRETS = {"key": RAW_KEY, "passphrase": PASSPHRASE}


def vector(text):
    """Archive, secret and context of a vector file."""
    header, _, body = text.partition("\n\n")
    fields = [line.split(": ", 1) for line in header.split("\n")]
    secret = next((SECRETS[name], bytes.fromhex(value)) for name, value in fields
                  if name in SECRETS)
    context = [value.encode() for name, value in fields if name == "context"]
    return bytes.fromhex(body), secret, context


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    secrets = parser.add_mutually_exclusive_group()
    secrets.add_argument("--key", type=bytes.fromhex, help="in hexadecimal")
    secrets.add_argument("--passphrase", type=str.encode)
    parser.add_argument("--context", action="append", default=[], help="one field")
    parser.add_argument("--derivations", action="store_true", help="print all keys, too")
    arguments = parser.parse_args()

    def trace(name, value):
        if arguments.derivations:
            print(f"{name}: {value.hex()}")

    for file in arguments.files:
        print(f"file: {file.name}")
        if arguments.key or arguments.passphrase:
            data, context = file.read_bytes(), [field.encode() for field in arguments.context]
            secret = ((RAW_KEY, arguments.key) if arguments.key
                      else (PASSPHRASE, arguments.passphrase))
        else:
            data, secret, context = vector(file.read_text(encoding="utf-8"))
        try:
            for line in read(data, secret, context, trace):
                print(line)
        except Refused as reason:
            print(f"refused: {reason}")


if __name__ == "__main__":
    main()
