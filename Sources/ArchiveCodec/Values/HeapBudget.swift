internal import Synchronization

/// What decoding one value may still take of the heap, for all of its parts.
final class HeapBudget: Sendable {
  private let remaining: Atomic<Int>

  /// What the heap needs for an array besides its elements.
  static let arrayByteCount = 32
  /// What the heap needs for a dictionary, and for an entry besides its value.
  static let dictionaryByteCount = 128
  static let entryByteCount = 48
  /// What Foundation keeps for a URL, at the least.
  static let urlByteCount = 256

  init(recordByteCount: Int) {
    remaining = Atomic(ArchiveLimits.standard.decodedByteCount + 4 * recordByteCount)
  }

  /// Counts are at most those of the record's bytes, so nothing overflows.
  func charge(_ byteCount: Int, at offset: Int) throws(ArchiveError) {
    guard remaining.wrappingSubtract(byteCount, ordering: .relaxed).newValue >= 0 else {
      throw ArchiveError(.limitExceeded, offset: offset, subject: "memory of a decoded value")
    }
  }
}
