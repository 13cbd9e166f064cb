#!/usr/bin/env python3
"""Makes the constants of HostileSlotTests.swift, from the specification alone.

The archive has the archive identifier and every salt 07 07 …, and the context
["org.example.test", "main"]. The keys are 01 01 … and 02 02 ….

The two-key box is a wrapped data key (32 bytes and a tag) that opens with the
wrapping keys of both: for a chosen first block, the second one is the solution
of a linear equation modulo 2^130 - 5 that makes both Poly1305 tags equal.

It needs libsodium for Argon2id only.
"""
import ctypes
import ctypes.util
import hashlib
import struct

P = 2**130 - 5


def kdf(label, key, salt, data, size):
    return hashlib.blake2b(
        data, key=key, salt=salt, person=label.encode().ljust(16, b"\0"), digest_size=size
    ).digest()


def chacha_block(key, counter):
    def turn(x, a, b, c, d):
        for p, q, r, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[p] = (x[p] + x[q]) & 0xFFFFFFFF
            v = x[r] ^ x[p]
            x[r] = ((v << bits) | (v >> (32 - bits))) & 0xFFFFFFFF

    start = list(struct.unpack("<4I", b"expand 32-byte k"))
    start += list(struct.unpack("<8I", key)) + [counter, 0, 0, 0]
    x = start[:]
    for _ in range(10):
        turn(x, 0, 4, 8, 12), turn(x, 1, 5, 9, 13), turn(x, 2, 6, 10, 14), turn(x, 3, 7, 11, 15)
        turn(x, 0, 5, 10, 15), turn(x, 1, 6, 11, 12), turn(x, 2, 7, 8, 13), turn(x, 3, 4, 9, 14)
    return struct.pack("<16I", *[(a + b) & 0xFFFFFFFF for a, b in zip(x, start)])


def poly_key(key):
    block = chacha_block(key, 0)
    r = int.from_bytes(block[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    return r, int.from_bytes(block[16:32], "little")


def tag(key, box):
    r, s = poly_key(key)
    total = 0
    for block in (box[:16], box[16:32], struct.pack("<QQ", 0, 32)):
        total = (total + int.from_bytes(block + b"\1", "little")) * r % P
    return (total + s) % 2**128


def sealed(key, plaintext):
    stream = chacha_block(key, 1)
    box = bytes(a ^ b for a, b in zip(plaintext, stream))
    return box + tag(key, box).to_bytes(16, "little")


def two_key_box(one, other):
    (r1, s1), (r2, s2) = poly_key(one), poly_key(other)
    last = int.from_bytes(struct.pack("<QQ", 0, 32) + b"\1", "little")
    inverse = pow(r1**2 - r2**2, -1, P)
    for attempt in range(10000):
        first = hashlib.blake2b(struct.pack("<Q", attempt), digest_size=16).digest()
        a = int.from_bytes(first + b"\1", "little")
        for carry in range(-4, 5):
            difference = s2 - s1 + carry * 2**128 - a * (r1**3 - r2**3) - last * (r1 - r2)
            b = difference * inverse % P
            if b >> 128 == 1:
                box = first + (b - 2**128).to_bytes(16, "little")
                if tag(one, box) == tag(other, box):
                    return box + tag(one, box).to_bytes(16, "little")
    raise SystemExit("no box was found")


def varint(number):
    assert number < 128
    return bytes([number << 1 | 1])


def argon2id(passphrase, salt, passes, kibibytes):
    sodium = ctypes.CDLL(ctypes.util.find_library("sodium"))
    assert sodium.sodium_init() >= 0
    key = ctypes.create_string_buffer(32)
    status = sodium.crypto_pwhash(
        key, ctypes.c_ulonglong(32), passphrase, ctypes.c_ulonglong(len(passphrase)), salt,
        ctypes.c_ulonglong(passes), ctypes.c_size_t(kibibytes * 1024), 2)
    assert status == 0
    return key.raw


salt = bytes([7] * 16)
binding = salt + bytes([1, 1])
fields = b"".join(varint(len(f)) + f for f in (b"org.example.test", b"main"))
context = hashlib.blake2b(fields, person=b"RKA1 context".ljust(16, b"\0"), digest_size=32).digest()


def slot_keys(master, parameters):
    keys = kdf("RKA1 slot", master, salt, binding + parameters + context, 64)
    return keys[:32], keys[32:]


raw = bytes([1] + [0] * 11)
(wrap1, commitment1), (wrap2, commitment2) = (slot_keys(bytes([n] * 32), raw) for n in (1, 2))
print("commitment of 01:", commitment1.hex())
print("commitment of 02:", commitment2.hex())
print("two-key box:", two_key_box(wrap1, wrap2).hex())

master = argon2id("correct horse\0".encode(), salt, 1, 8)
parameters = struct.pack("<BBHII", 2, 1, 0, 1, 8)
wrap, commitment = slot_keys(master, parameters)
box = sealed(wrap, bytes([7] * 32))
slot = parameters + salt + struct.pack("<Q", 0x01020304) + commitment + box
slot += kdf("RKA1 key check", master, salt, binding + slot, 32)[:8] + bytes(4)
print("slot of the passphrase:", slot.hex())
