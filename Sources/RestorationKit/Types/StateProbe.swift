internal import ArchiveCodec

/// The state that an object gave at one moment, to find out later whether the object says something
/// else.
///
/// Nothing of a probe is stored. Values that the library itself stores, such as a scroll offset, do
/// not count: layout changes them.
struct StateProbe {
  private struct Target {
    weak var object: (any StateRestoring)?
  }

  private let state: RecordFingerprint
  /// The objects to which the state referred, in the order of the references.
  private let targets: [Target]

  /// Asks an object.
  ///
  /// - Throws: The error that the object throws, and ``ArchiveError`` for a state that is too
  ///   large.
  init(
    _ object: any StateRestoring, at path: RestorationPath, _ traits: TypeTraits,
    _ limits: ArchiveLimits = .standard
  ) throws {
    self = try Self.asking(object, at: path, traits, limits).probe
  }

  private init(_ state: RecordFingerprint, _ objects: [any StateRestoring]) {
    self.state = state
    targets = objects.map { Target(object: $0) }
  }

  /// What an object said when it was asked.
  ///
  /// The record has the state, in which references have numbers from 1 on: those of the objects, in order.
  typealias Answer = (probe: StateProbe, record: KeyedDecoder, objects: [any StateRestoring])

  /// Asks an object, and gives its answer besides the probe.
  ///
  /// - Throws: As the initializer.
  static func asking(
    _ object: any StateRestoring, at path: RestorationPath, _ traits: TypeTraits,
    _ limits: ArchiveLimits = .standard
  ) throws -> Answer {
    let references = ProbedReferences(path)
    var state = RecordFingerprint.none
    let record = try KeyedDecoder.encoding(limits: limits) { encoder in
      let container = encoder.beginContainer(forKey: NodeRecord.stateKey)
      let coder = StateEncoder(references, encoder)
      coder.open(nil)
      defer { coder.close() }
      // A field that has a record of its own counts by its value as well.
      try coder.encodeOwnState(of: object, traits, isInline: true)
      try object.encodeRestorableState(with: coder)
      encoder.endContainer(container)
      state = encoder.fingerprint(of: container)
    }
    let objects = references.objects
    return (StateProbe(state, objects), record, objects)
  }

  /// Whether another probe has the same values, with references to the same objects.
  func isSame(as other: StateProbe) -> Bool {
    state == other.state && targets.count == other.targets.count
      && zip(targets, other.targets).allSatisfy { $0.object != nil && $0.object === $1.object }
  }
}

/// Numbers the objects to which a probe refers in the order in which they are met.
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

  // Notes are left to the save that stores the state.
  func note(_ note: ReportNote, _ number: RowNumber?) {}
}
