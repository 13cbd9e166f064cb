internal import ArchiveCodec

/// What an object says, as a number to compare with what it says later.
///
/// The number does not depend on the names that an archive has already.
enum StateProbe {
  /// - Throws: The errors of the object's hook.
  static func fingerprint(
    of object: any StateRestoring, _ traits: TypeTraits
  ) throws -> RecordFingerprint {
    let builder = RecordBuilder()
    let coder = StateEncoder(ProbedReferences(), try builder.begin(record: 1))
    coder.open(Document.tree)
    defer { coder.close() }
    do {
      try coder.encodeAll(of: object, traits)
    } catch {
      builder.abandon()
      throw error
    }
    return try builder.end(ifOtherThan: nil).fingerprint
  }
}

/// The targets of the references that a probed object makes.
private final class ProbedReferences: StateEncoding {
  func path(of slot: Int32) -> RestorationPath { RestorationPath() }

  func reference(to object: any StateRestoring, from referrer: Int32, key: String) -> UInt64? {
    UInt64(addressOf: object)
  }

  func reference(toTab tab: any RestorableNode, of slot: Int32) -> UInt64? {
    UInt64(addressOf: tab)
  }

  // Notes are left to the save that stores the state.
  func note(_ note: ReportNote, _ slot: Int32) {}
}
