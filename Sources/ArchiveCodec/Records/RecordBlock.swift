internal import Synchronization

/// Memory in which checked records lie, and the names that they use.
///
/// Decoders refer to it and say where in it they are. So opening a record or a
/// container takes no memory (benchmark: open and decode keyed records).
@usableFromInline
final class RecordBlock: Sendable {
  @usableFromInline let bytes: [UInt8]
  let symbols: SymbolTable
  /// The names of the symbols once more: looking one up there would count
  /// references.
  let names: [String]
  let callLimit: Int
  private let hint = Atomic<UInt64>(0)

  init(_ bytes: [UInt8], symbols: SymbolTable, limits: ArchiveLimits) {
    self.bytes = bytes
    self.symbols = symbols
    names = symbols.names
    callLimit = limits.callLimit
  }
}

// MARK: - Hints

extension RecordBlock {
  /// Where the entry begins that is likely to be asked for next.
  ///
  /// It is shared by all decoders of the block and says of which map it is, so
  /// the others do not mistake it for theirs. Since the bytes stay as they are,
  /// what it says stays true; when several threads read, or one reads several
  /// maps in turns, there is just none more often.
  func hint(forMapAt start: Int) -> EntryPosition? {
    let hint = hint.load(ordering: .relaxed)
    guard Int(hint >> 32) == start else { return nil }
    return EntryPosition(offset: start + Int(hint >> 8 & 0xFF_FFFF), place: Int(hint & 0xFF))
  }

  /// Notes where the next entry begins; larger maps, and records after the
  /// first 4 GiB, have no hints.
  func note(_ next: EntryPosition, forMapAt start: Int) {
    guard next.offset - start < 1 << 24, next.place < 1 << 8, start < 1 << 32 else { return }
    hint.store(
      UInt64(start) << 32 | UInt64(next.offset - start) << 8 | UInt64(next.place),
      ordering: .relaxed)
  }
}
