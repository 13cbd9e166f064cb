/// Gives field names their numbers while records are written.
///
/// Several writers share one: nested containers of Codable values have bytes
/// of their own until their place is known, and the names of the archive.
final class SymbolCollector {
  private(set) var table = SymbolTable()
  private let limits: ArchiveLimits
  /// Whether all names are written inline, so that an encoding depends on the
  /// value alone and not on what was written before.
  let isInline: Bool

  init(limits: ArchiveLimits, isInline: Bool = false) {
    self.limits = limits
    self.isInline = isInline
  }

  /// The number of a name, new if needed; nil if it is to be written inline.
  func intern(_ name: String) -> UInt32? {
    isInline ? nil : table.intern(name, limits: limits)
  }

  /// Takes back the newest names, so that what was abandoned leaves no trace.
  func truncate(to count: Int) {
    table.truncate(to: count)
  }
}
