package import ArchiveCodec
package import RestorationKit
internal import Synchronization

/// A directory that kills the process in the midst of one of its writes.
package final class KillingDirectory: StateDirectory {
  private let base: any StateDirectory
  private let writes: CountedWrites

  package init(
    _ base: any StateDirectory, at moment: KillMoment?, kill: @escaping @Sendable () -> Void
  ) {
    self.base = base
    writes = CountedWrites(at: moment, kill: kill)
  }

  package func storage(named name: String) -> any ArchiveStorage {
    KillingStorage(storage: base.storage(named: name), writes: writes)
  }

  package func names() throws(ArchiveError) -> [String] { try base.names() }
}

/// Counts the writes of one directory, and knows which is the last.
private final class CountedWrites: Sendable {
  private let last: Int?
  private let kill: @Sendable () -> Void
  private let count = Mutex(0)

  init(at moment: KillMoment?, kill: @escaping @Sendable () -> Void) {
    if case .inWrite(let number) = moment { last = number } else { last = nil }
    self.kill = kill
  }

  /// Whether a write that begins now is the last one.
  func begin() -> Bool {
    count.withLock { count in
      count += 1
      return count == last
    }
  }

  /// Writes the first half of the bytes and kills the process.
  func end(
    in bytes: [UInt8], _ write: ([UInt8]) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    try write(Array(bytes.prefix(bytes.count / 2)))
    kill()
  }
}

private struct KillingStorage: WrappedStorage {
  let storage: any ArchiveStorage
  let writes: CountedWrites

  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try storage.openForAppending().map { KillingFile(file: $0, writes: writes) }
  }

  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    let isLast = writes.begin()
    try storage.replace { sink throws(ArchiveError) in
      try body(isLast ? KillingSink(sink, writes) : sink)
    }
  }
}

private final class KillingSink: ArchiveSink {
  private let sink: any ArchiveSink
  private let writes: CountedWrites

  init(_ sink: any ArchiveSink, _ writes: CountedWrites) {
    (self.sink, self.writes) = (sink, writes)
  }

  func write(_ bytes: [UInt8]) throws(ArchiveError) {
    // A few bytes have no useful half: a header comes by itself.
    guard bytes.count > 1 else { return try sink.write(bytes) }
    try writes.end(in: bytes) { half throws(ArchiveError) in try sink.write(half) }
  }
}

private struct KillingFile: WrappedFile {
  let file: any AppendableArchiveFile
  let writes: CountedWrites

  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    guard writes.begin() else { return try file.write(bytes, at: offset) }
    try writes.end(in: bytes) { half throws(ArchiveError) in try file.write(half, at: offset) }
  }
}
