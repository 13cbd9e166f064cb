/// Gives field names their numbers while records are written.
///
/// Several writers share one: nested containers of Codable values have bytes
/// of their own until their place is known, and the names of the archive.
final class SymbolCollector {
  private(set) var table: SymbolTable
  /// The names of the table once more: reading them while the table may change
  /// would cost an exclusivity check each time.
  private(set) var names: [String] = []
  private let limits: ArchiveLimits
  /// By symbol: the one that came after it the last time.
  private var followers: [UInt32] = []
  private var last = 0
  /// The name that was written last, since records of one kind repeat it.
  private var lastName = ""
  private var lastNameNumber: UInt32 = 0
  /// Whether all names are written inline, so that an encoding depends on the
  /// value alone and not on what was written before.
  let isInline: Bool

  var count: Int { names.count }

  init(
    limits: ArchiveLimits, isInline: Bool = false, continuing table: SymbolTable = SymbolTable()
  ) {
    self.limits = limits
    self.isInline = isInline
    self.table = table
    names = table.names
    followers = table.names.indices.map { UInt32($0 + 1) }
  }

  /// The number of a name, new if needed; nil if it is to be written inline.
  ///
  /// Records of one kind repeat their names in order, so the name that followed
  /// the last one before is tried first: comparing is four times as fast as
  /// hashing (benchmark: encode and seal keyed records).
  @inline(__always)
  func intern(_ name: String) -> UInt32? {
    guess(name) ?? search(name)
  }

  /// The number of a short name or literal that comes where it did before.
  ///
  /// It calls nothing, so it counts no references either.
  @inline(__always)
  func guess(_ name: String) -> UInt32? {
    follower { $0.hasSameRepresentation(as: name) }
  }

  /// The name that followed the last one before, if it is the one meant.
  @inline(__always)
  private func follower(_ isMeant: (String) -> Bool) -> UInt32? {
    guard last < followers.count else { return nil }
    let follower = Int(followers[last])
    guard follower < names.count, isMeant(names[follower]) else { return nil }
    last = follower
    return UInt32(truncatingIfNeeded: follower)
  }

  @inline(never)
  private func search(_ name: String) -> UInt32? {
    if let number = follower({ $0.hasSameBytes(as: name) }) { return number }
    guard let number = enter(name) else { return nil }
    // Taken out to be changed, so that reading them needs no exclusivity check.
    var followers = self.followers
    self.followers = []
    followers[last] = number
    self.followers = followers
    last = Int(number)
    return number
  }

  /// The number of a name that is no key; the prediction of keys stays as it is.
  func internName(_ name: String) -> UInt32? {
    if !lastName.isEmpty, lastName.hasSameBytes(as: name) { return lastNameNumber }
    guard let number = enter(name) else { return nil }
    (lastName, lastNameNumber) = (name, number)
    return number
  }

  private func enter(_ name: String) -> UInt32? {
    guard !isInline, let number = table.intern(name, limits: limits) else { return nil }
    guard number == names.count else { return number }
    var (names, followers) = (self.names, self.followers)
    (self.names, self.followers) = ([], [])
    names.append(name)
    while followers.count < names.count { followers.append(UInt32(followers.count + 1)) }
    (self.names, self.followers) = (names, followers)
    return number
  }

  /// Takes back the newest names, so that what was abandoned leaves no trace.
  func truncate(to count: Int) {
    guard count < names.count else { return }
    table.truncate(to: count)
    lastName = ""
    names = Array(names[..<count])
  }
}
