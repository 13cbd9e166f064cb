extension Key {
  private static let names: [String: Key] = [
    "up": .up, "down": .down, "left": .left, "right": .right,
    "home": .home, "end": .end, "pgup": .pageUp, "pgdn": .pageDown,
    "enter": .enter, "tab": .tab, "shift-tab": .backTab, "esc": .escape,
    "backspace": .backspace, "delete": .delete, "space": .text(" "),
  ]

  private static let controlPrefix = "ctrl-"

  /// The key a script calls by a name: `pgdn`, `ctrl-s`, or the one character it types.
  package init?(named name: String) {
    if let key = Self.names[name] {
      self = key
    } else if name.count == 1 {
      self = .text(name)
    } else if name.hasPrefix(Self.controlPrefix), name.count == Self.controlPrefix.count + 1,
      let letter = name.last, ("a"..."z").contains(letter)
    {
      self = .control(letter)
    } else {
      return nil
    }
  }
}
