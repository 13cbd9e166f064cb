internal import ArchiveCodec
internal import RestorationFoundation

/// What stays stored though nobody has claimed or read it, by the elements.
package struct KeptParts: Sendable {
  /// The elements that nobody has claimed, the uppermost ones alone.
  var elements: [Int32: Kept] = [:]
  /// The bodies that an object of an element could not read, oldest first.
  var bodies: [Int32: [Kept]] = [:]
  /// The own bodies of elements whose objects are back and have not read them, until others are stored.
  var withheld: [Int32: Kept] = [:]
  /// What objects said before they were given a body late, until it is stored as an unread one.
  var pending: [Int32: [KeyedDecoder]] = [:]

  var isEmpty: Bool {
    elements.isEmpty && bodies.isEmpty && withheld.isEmpty && pending.isEmpty
  }

  /// Asked for each object: a copy of what is withheld would take longer than the answer (benchmark: save 10,000 nodes).
  func isWithheld(_ slot: Int32) -> Bool { !withheld.isEmpty && withheld[slot] != nil }

  /// The bodies that a late restore may give an object which is back; nil stands for its own one.
  func untaken(_ slot: Int32) -> [UInt64?] {
    let withheld = withheld[slot]
    let hasDecoded = [nil, .replaced, .fieldReplaced].contains(withheld?.reason)
    let others = (bodies[slot] ?? []).filter {
      [.decodeThrew, .fieldReplaced, .notFound].contains($0.reason) && $0.id != withheld?.given
    }
    return others.map(\.id) + (hasDecoded ? [] : [nil])
  }

  mutating func remove(_ slot: Int32) {
    (elements[slot], bodies[slot], withheld[slot], pending[slot]) = (nil, nil, nil, nil)
  }
}

/// An element that nobody has claimed, or a body that the object of an element has not read.
package struct Kept: Hashable, Sendable {
  /// The record of an unread body has twice this number; 0 for an element, and for its own body.
  var id: UInt64 = 0
  package var reason: Reason
  /// The form of a body.
  var form: Int32 = 0
  /// Nil until the first save that keeps it.
  var since: Date?
  /// The stored bytes, as far as they are known; of an element those of all bodies in it.
  var byteCount = 0
  /// The outcome of an element at the restore of this launch, for reports.
  var outcome: ElementOutcome?
  /// The unread body that the object has decoded in place of its own.
  var given: UInt64?
  /// Whether the object had its own body before: the next save writes what the object goes on with.
  var replacesOwn = false
  /// What the object said at the end of the restore; nil if it could not say anything.
  ///
  /// Nothing is stored as long as it says that.
  var said: RecordFingerprint?

  var record: UInt64 { id * 2 }

  /// How many unread bodies one element has at most: the first one and the one before the last.
  static let largestBodyCount = 2

  /// Why nobody has an element, or has read a body.
  package enum Reason: UInt8, Sendable {
    case notFound, unknownClass, factoryThrew, newerVersion, migrationFailed, leftOut
    case decodeThrew, otherClass, fieldReplaced, replaced

    /// Why an element is kept, or why an object that is back has not read its body.
    init(_ outcome: ElementOutcome?) {
      self =
        switch outcome {
        case .newerVersion: .newerVersion
        case .migrationFailed: .migrationFailed
        case .unknownRestorationClass: .unknownClass
        case .factoryFailed: .factoryThrew
        case .skipped: .leftOut
        case .classMismatch: .otherClass
        case .decodeFailed: .decodeThrew
        default: .notFound
        }
    }

    /// Whether the app could not read anything of the body, so that what it says is stored beside it.
    var staysBeside: Bool { self == .newerVersion || self == .migrationFailed || self == .leftOut }
  }
}

// MARK: - For reports

extension Document {
  /// The kept elements, then the bodies that the objects of elements have not read.
  func keptElements(_ types: TypeTable) -> [KeptElement] {
    guard !kept.isEmpty else { return [] }
    let paths = StoredPaths(self)
    func line(_ slot: Int32, _ part: Kept, isStateAlone: Bool) -> KeptElement {
      let form = head.forms[Int(isStateAlone ? part.form : self[slot].place.form)]
      return KeptElement(
        kind: self[slot].place.role.kind, path: paths[slot], className: form.className,
        reason: isStateAlone ? part.outcome(of: form, types) : part.outcome ?? .notFound,
        isStateAlone: isStateAlone, since: part.since, byteCount: part.byteCount)
    }
    let own = kept.withheld.filter { $0.value.reason.staysBeside && kept.elements[$0.key] == nil }
    // The application has no class, and no element of a report.
    let slots = Set(kept.bodies.keys).union(own.keys).subtracting([Self.tree])
    return kept.elements.sorted { $0.key < $1.key }.map { line($0, $1, isStateAlone: false) }
      + slots.sorted().flatMap { slot in
        ((kept.bodies[slot] ?? []).reversed() + [own[slot]].compactMap(\.self)).map {
          line(slot, $0, isStateAlone: true)
        }
      }
  }
}

extension Kept {
  /// Why a body is not read, as this version of the app sees it.
  fileprivate func outcome(of form: Form, _ types: TypeTable) -> ElementOutcome {
    let known = types.version(ofClass: form.className, restoredBy: form.restorationClassName)
    let isNewer = form.version > known.number
    if reason == .leftOut, !isNewer { return .skipped }
    let isRefused =
      isNewer || reason == .migrationFailed
      || reason == .newerVersion && known.steps(from: form.version) == nil
    return isRefused ? known.refusal(of: form.version)(.existing) : .restored(by: .existing)
  }
}
