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
    let references = ProbedReferences { UInt64(addressOf: $0) }
    try encode(object, traits, references, try builder.begin(record: 1))
    return try builder.end(ifOtherThan: nil)
  }

  /// What an object says, as a record in memory; references to what is not stored are left out.
  ///
  /// - Throws: The errors of the object's hook.
  static func body(
    of object: any StateRestoring, _ traits: TypeTraits, _ document: Document,
    _ owner: KnownObjects.Owner
  ) throws -> KeyedDecoder {
    try KeyedDecoder.encoding { encoder in
      let references = ProbedReferences { target in
        KnownObjects.shared.known(target, to: owner).flatMap { known in
          document.elements.indices ~= Int(known.slot) ? document[known.slot].id : nil
        }
      }
      try encode(object, traits, references, encoder)
    }
  }

  private static func encode(
    _ object: any StateRestoring, _ traits: TypeTraits, _ references: ProbedReferences,
    _ encoder: KeyedEncoder
  ) throws {
    let coder = StateEncoder(references, encoder)
    coder.open(Document.tree)
    defer { coder.close() }
    try coder.encodeAll(of: object, traits)
  }
}

/// The targets of the references that a probed object makes.
private final class ProbedReferences: StateEncoding {
  private let id: (any StateRestoring) -> UInt64?

  init(_ id: @escaping (any StateRestoring) -> UInt64?) { self.id = id }

  func path(of slot: Int32) -> RestorationPath { RestorationPath() }

  func reference(to object: any StateRestoring, from referrer: Int32, key: String) -> UInt64? {
    id(object)
  }

  func reference(toTab tab: any RestorableNode, of slot: Int32) -> UInt64? { id(tab) }

  // Notes are left to the save that stores the state.
  func note(_ note: ReportNote, _ slot: Int32) {}
}
