/// Gives field names their numbers while records are written.
///
/// Several writers share one collector: nested containers of Codable values have bytes
/// of their own until their place is known, and share the names of the archive.
final class SymbolCollector {
  private(set) var table: SymbolTable
  private let limits: ArchiveLimits
  /// The keys, in the order in which they are likely to come.
  let keys = ExpectedNames()
  /// Whether all names are written inline, so that an encoding depends on the value
  /// alone and not on earlier ones.
  let isInline: Bool

  var count: Int { keys.count }

  /// The names by symbol.
  var names: [String] { table.names }

  init(
    limits: ArchiveLimits, isInline: Bool = false, continuing table: SymbolTable = SymbolTable()
  ) {
    self.limits = limits
    self.isInline = isInline
    self.table = table
    for name in table.names { keys.append(name) }
  }

  /// The number of a short name or literal that comes in the same order as before.
  ///
  /// The method calls no function, so it counts no references.
  @inline(__always)
  func guess(_ name: String) -> UInt32? {
    keys.next(ifItIs: name)
  }

  /// The number of a name, a new one if needed; nil if the name has to be written inline.
  ///
  /// Records of one kind repeat their names in order, so the name that followed
  /// the last one before is tried first: comparing is four times as fast as
  /// hashing (benchmark: encode and seal keyed records).
  @inline(never)
  func search(_ name: String) -> UInt32? {
    if let number = keys.next(ifItHasTheBytesOf: name) { return number }
    guard let number = enter(name) else { return nil }
    keys.note(number)
    return number
  }

  /// The number of a name, also of one that is no key; the expected order of keys stays as it is.
  func enter(_ name: String) -> UInt32? {
    guard !isInline, let number = table.intern(name, limits: limits) else { return nil }
    if number == keys.count { keys.append(name) }
    return number
  }

  /// Removes the newest names, so that an abandoned record leaves no trace.
  func truncate(to count: Int) {
    guard count < keys.count else { return }
    table.truncate(to: count)
    keys.truncate(to: count)
  }
}
