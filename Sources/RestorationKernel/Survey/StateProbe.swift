internal import ArchiveCodec

/// What an object says, as a number to compare with what it says later.
///
/// The number does not depend on the names that an archive has already.
enum StateProbe {
  /// - Throws: The errors of the object's hook.
  static func fingerprint(
    of object: any StateRestoring, _ traits: TypeTraits
  ) throws -> RecordFingerprint {
    let references = ProbedReferences()
    let builder = RecordBuilder()
    let encoder = try builder.begin(record: 1)
    do {
      let coder = StateEncoder(references, encoder)
      coder.open(nil)
      defer { coder.close() }
      try coder.encodeOwnState(of: object, traits)
      try object.encodeRestorableState(with: coder)
    } catch {
      builder.abandon()
      throw error
    }
    return try builder.end(ifOtherThan: nil).fingerprint
  }
}

/// The targets of the references that a probed object makes.
private final class ProbedReferences: StateEncoding {
  func path(of number: RowNumber?) -> RestorationPath { RestorationPath() }

  func reference(
    to object: any StateRestoring, from number: RowNumber?, key: String
  ) -> UInt64? {
    UInt64(addressOf: object)
  }

  func register(_ object: any RestorableObject, identifier: String) {}

  // Notes are left to the save that stores the state.
  func note(_ note: ReportNote, _ number: RowNumber?) {}
}
