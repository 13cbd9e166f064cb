internal import ArchiveCodec

/// What an object said of its state at one moment, to find out later whether it says
/// something else.
///
/// Nothing of it is stored. Values with a sensitivity count by their fingerprints, and what
/// the library itself stores, such as a scroll offset, does not count: layout changes it.
struct StateProbe {
  private struct Target {
    weak var object: (any StateRestoring)?
  }

  private struct SensitiveValue: Equatable {
    let keys: [String]
    /// Nil if it is not stored.
    let fingerprint: RecordFingerprint?
  }

  private let state: RecordFingerprint
  private let sensitive: [SensitiveValue]
  /// What it referred to, in that order.
  private let targets: [Target]

  /// Asks an object.
  ///
  /// - Throws: What it throws, and ``ArchiveError`` for what is too large.
  init(
    _ object: any StateRestoring, at path: RestorationPath, _ traits: TypeTraits,
    _ limits: ArchiveLimits = .standard
  ) throws {
    let references = ProbedReferences(path)
    var state = RecordFingerprint.none
    var sensitive: [SensitiveValue] = []
    _ = try KeyedDecoder.encoding(limits: limits) { encoder in
      let container = encoder.beginContainer(forKey: NodeRecord.stateKey)
      let coder = StateEncoder(references, encoder)
      coder.open(nil)
      defer { coder.close() }
      try coder.encodeOwnState(of: object, traits)
      try object.encodeRestorableState(with: coder)
      coder.finishContainer()
      sensitive = (coder.sensitive?.all ?? []).map { keys, value in
        switch value {
        case .absent: SensitiveValue(keys: keys, fingerprint: nil)
        case .expiring(_, let content), .secret(let content):
          SensitiveValue(keys: keys, fingerprint: content.fingerprint)
        }
      }
      encoder.endContainer(container)
      state = encoder.fingerprint(of: container)
    }
    self.state = state
    self.sensitive = sensitive
    targets = references.objects.map { Target(object: $0) }
  }

  /// Whether another one says the same, of the same objects.
  func isSame(as other: StateProbe) -> Bool {
    state == other.state && sensitive == other.sensitive
      && targets.count == other.targets.count
      && zip(targets, other.targets).allSatisfy { $0.object != nil && $0.object === $1.object }
  }
}

/// Numbers what a probe refers to by the order in which it is met.
private final class ProbedReferences: StateEncoding {
  private let path: RestorationPath
  private(set) var objects: [any StateRestoring] = []

  init(_ path: RestorationPath) { self.path = path }

  func path(of number: RowNumber?) -> RestorationPath { path }

  func reference(
    to object: any StateRestoring, from number: RowNumber?, key: String
  ) -> UInt64? {
    objects.append(object)
    return UInt64(objects.count)
  }

  func register(_ object: any RestorableObject, identifier: String) {}

  // What there is to say, the save says that stores it.
  func note(_ note: ReportNote, _ number: RowNumber?) {}

  func noteKeptCoder(of number: RowNumber?, _ path: RestorationPath?, key: String) {}
}
