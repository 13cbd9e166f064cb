#!/usr/bin/env python3
"""Makes terminal.svg, which shows the terminal before SIGKILL, the kill, and the terminal after a new start.

Runs the built program in a terminal of its own, edits in the second of two windows, kills it, starts it again,
and fails if that shows anything else. The picture is drawn from the cells of the terminal.

    swift build --product catalog && Pictures/make-terminal.py
"""
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
from xml.sax.saxutils import escape

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE.parent / ".build/debug/catalog"
COLUMNS, ROWS = 98, 24
DOWN, LEFT, ENTER, TAB, ESCAPE, NEW_WINDOW = "\x1b[B", "\x1b[D", "\r", "\t", "\x1b", "\x0e"
KEYS = [DOWN] * 5 + [ENTER, TAB, NEW_WINDOW, ESCAPE, DOWN, DOWN, ENTER, "e", TAB]
KEYS += [" Ask Ada about it."] + [LEFT] * 3
# Longer than saves are apart, and longer than a lone Escape waits for the rest of a sequence.
STILL = 0.8

WIDTH, HEIGHT, FONT, MARGIN, GAP = 8.43, 18, 14, 12, 10
# What a user types in another terminal, and what the first one says then.
KILL = [("$ pkill -9 catalog", True), ("Killed", False), ("$ catalog", True)]
BACK, TEXT, DIM, ACCENT, WARNING = "#1e1e1e", "#deddda", "#8f8e8b", "#33c7de", "#f5c211"
# Halves of lines from the middle of a cell: left, right, up, down.
LINES = {"─": "lr", "│": "ud", "┃": "ud", "╭": "rd", "╮": "ld", "╯": "lu", "╰": "ru"}


class Screen:
    """The cells of a terminal that knows what the program writes, and nothing else."""

    def __init__(self):
        self.cells = [[(" ", frozenset())] * COLUMNS for _ in range(ROWS)]
        self.cursor, self.shows_cursor = (0, 0), False

    def write(self, output):
        row, column, style = 0, 0, frozenset()
        for sequence, parameters, command, character in re.findall(
                r"(\x1b\[([?\d;]*)([A-Za-z]))|(.)", output, re.DOTALL):
            if character:
                self.cells[row][column] = (character, style)
                column += 1
            elif command == "H":
                row, column = (int(number) - 1 for number in parameters.split(";"))
            elif command == "m":
                codes = [int(code) for code in parameters.split(";")]
                style = frozenset(codes[1:]) if codes[0] == 0 else style | frozenset(codes)
            elif parameters == "?25":
                self.shows_cursor = command == "h"
            elif parameters != "?1049":
                sys.exit(f"The program wrote {sequence!r}, which is not known here.")
        self.cursor = (row, column)

    def __eq__(self, other):
        return vars(self) == vars(other)


def start(environment):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(
        [PROGRAM], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True)
    os.close(theirs)
    return process, ours


def read_until_still(terminal):
    output = b""
    while select.select([terminal], [], [], STILL)[0]:
        output += os.read(terminal, 65536)
    return output.decode()


def edit_kill_and_start_again(home):
    environment = {
        "HOME": home, "XDG_STATE_HOME": f"{home}/state", "XDG_DATA_HOME": f"{home}/data",
        "PATH": os.environ["PATH"], "TERM": "xterm", "LC_ALL": "C.UTF-8"}
    before, after = Screen(), Screen()
    for screen, keys in [(before, KEYS), (after, [])]:
        process, terminal = start(environment)
        try:
            output = read_until_still(terminal)
            for key in keys:
                os.write(terminal, key.encode())
                output += read_until_still(terminal) if key == ESCAPE else ""
            screen.write(output + read_until_still(terminal))
        finally:
            process.send_signal(signal.SIGKILL)
            if process.wait() != -signal.SIGKILL:
                sys.exit("The program was not ended by SIGKILL.")
            os.close(terminal)
    if before != after:
        sys.exit("The program has come back with another screen.")
    return before, after


def runs(row):
    """The characters of a row that stand together and look the same."""
    start = 0
    for column in range(1, COLUMNS + 1):
        if column == COLUMNS or row[column][1] != row[start][1] or not goes_on(row[column - 1][0], row[column][0]):
            yield start, "".join(character for character, _ in row[start:column]), row[start][1]
            start = column


def goes_on(before, character):
    return before == character == "─" or before not in LINES and character not in LINES


def shapes(screen, head):
    for number, row in enumerate(screen.cells):
        top = head + MARGIN + number * HEIGHT
        for start, text, style in runs(row):
            left, length = MARGIN + start * WIDTH, len(text) * WIDTH
            color = ACCENT if 36 in style else WARNING if 33 in style else DIM if 2 in style else TEXT
            if 7 in style:
                yield f'<rect x="{left:.1f}" y="{top}" width="{length:.1f}" height="{HEIGHT}" fill="{color}"/>'
                color = BACK
            if text[0] in LINES:
                yield line(text[0], left, top, length, color, 2.5 if text == "┃" or 1 in style else 1.2)
            elif text.strip():
                yield words(text, left, top, color, style)
    if screen.shows_cursor:
        row, column = screen.cursor
        left, top = MARGIN + column * WIDTH, head + MARGIN + row * HEIGHT
        yield f'<rect x="{left:.1f}" y="{top}" width="2" height="{HEIGHT}" fill="#ffffff"/>'


def words(text, left, top, color, style):
    left += (len(text) - len(text.lstrip())) * WIDTH
    text = text.strip()
    look = ' font-weight="bold"' if 1 in style else ""
    look += ' text-decoration="underline"' if 4 in style else ""
    return (f'<text x="{left:.1f}" y="{top + 13.5}" textLength="{len(text) * WIDTH:.1f}" fill="{color}"{look}>'
            f"{escape(text)}</text>")


def line(character, left, top, length, color, width):
    middle, center = (left + length / 2, top + HEIGHT / 2)
    ends = {"l": (left, center), "r": (left + length, center), "u": (middle, top), "d": (middle, top + HEIGHT)}
    (x, y), (x2, y2) = (ends[end] for end in LINES[character])
    return (f'<path d="M{x:.1f} {y:.1f}Q{middle:.1f} {center:.1f} {x2:.1f} {y2:.1f}" fill="none" stroke="{color}"'
            f' stroke-width="{width}"/>')


def panel(head, height):
    return f'<rect y="{head}" width="100%" height="{height}" rx="6" fill="{BACK}"/>'


def kill(head):
    for number, (text, is_typed) in enumerate(KILL):
        style = frozenset([1]) if is_typed else frozenset()
        yield words(text, MARGIN, head + MARGIN + number * HEIGHT, TEXT if is_typed else WARNING, style)


def picture(before, after):
    width, tall, low = COLUMNS * WIDTH + 2 * MARGIN, ROWS * HEIGHT + 2 * MARGIN, len(KILL) * HEIGHT + 2 * MARGIN
    heads = 0, tall + GAP, tall + low + 2 * GAP
    height = heads[2] + tall
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}"'
           f' height="{height}" font-family="ui-monospace, Menlo, Consolas, \'DejaVu Sans Mono\', monospace"'
           f' font-size="{FONT}">')
    yield ('<title>Two windows of the catalog, with words being edited; the program is killed; after a new start both'
           ' windows, the words and the cursor are there.</title>')
    for head, size, inside in zip(heads, (tall, low, tall),
                                  (shapes(before, heads[0]), kill(heads[1]), shapes(after, heads[2]))):
        yield panel(head, size)
        yield from inside
    yield "</svg>"


with tempfile.TemporaryDirectory() as home:
    before, after = edit_kill_and_start_again(home)
(HERE / "terminal.svg").write_text("\n".join(picture(before, after)) + "\n")
