internal import Synchronization

/// Memory in which checked records lie, and the names that they use.
///
/// Decoders refer to the block and to their offset in it. So opening a record or a
/// container takes no memory (benchmark: open and decode keyed records).
@usableFromInline
final class RecordBlock: Sendable {
  @usableFromInline let bytes: [UInt8]
  let symbols: SymbolTable
  let callLimit: Int
  private let hint = Atomic<UInt64>(0)

  init(_ bytes: [UInt8], symbols: SymbolTable, limits: ArchiveLimits) {
    self.bytes = bytes
    self.symbols = symbols
    callLimit = limits.callLimit
  }
}

// MARK: - Hints

extension RecordBlock {
  /// The position of the entry that is likely to be asked for next.
  ///
  /// All decoders of the block share the hint, and it names its map, so decoders of other
  /// maps ignore it. Since the bytes never change, a hint stays true; when several
  /// threads read, or one reads several maps in turns, a hint is just missing more often.
  func hint(forMapAt start: Int) -> EntryPosition? {
    let hint = hint.load(ordering: .relaxed)
    guard Int(hint >> 32) == start else { return nil }
    return EntryPosition(offset: start + Int(hint >> 8 & 0xFF_FFFF), place: Int(hint & 0xFF))
  }

  /// Notes the position of the next entry.
  ///
  /// Larger maps, and records after the first 4 GiB, have no hints.
  func note(_ next: EntryPosition, forMapAt start: Int) {
    guard next.offset - start < 1 << 24, next.place < 1 << 8, start < 1 << 32 else { return }
    hint.store(
      UInt64(start) << 32 | UInt64(next.offset - start) << 8 | UInt64(next.place),
      ordering: .relaxed)
  }
}
