internal import ArchiveCodec
internal import Dispatch
internal import Synchronization

/// The fingerprints of the records of all elements of a tree, which only the save after
/// a restore needs.
///
/// Another core computes the fingerprints while the app is called, if there is one:
/// they take a fifth of the time of the reading before (benchmark: restore nodes).
final class StoredFingerprints: Sendable {
  private let outline: StoredOutline
  private let records: VerifiedRecords
  private static let fewestAhead = 256
  private let found = Mutex<[RecordFingerprint]?>(nil)

  init(_ outline: StoredOutline, in records: VerifiedRecords) {
    self.outline = outline
    self.records = records
  }

  /// The size of the record of an element in bytes; nil in a part of a tree.
  func byteCount(at place: Int) -> Int? {
    guard place < outline.rows.count else { return nil }
    return records.byteCount(at: Int(outline.rows[place].recordPlace))
  }

  /// Begins to compute the fingerprints; a reader waits for them, or computes them itself.
  func begin() {
    // Waking a thread takes longer than computing a few of them.
    guard outline.rows.count >= Self.fewestAhead else { return }
    DispatchQueue.global(qos: .userInitiated).async { _ = self.all }
  }

  /// The fingerprints by the indices of the elements.
  ///
  /// - Complexity: O(*n*) in the bytes of the records; once.
  var all: [RecordFingerprint] {
    found.withLock { found in
      if let found { return found }
      let all = outline.rows.map { records.fingerprint(at: Int($0.recordPlace)) }
      found = all
      return all
    }
  }
}
