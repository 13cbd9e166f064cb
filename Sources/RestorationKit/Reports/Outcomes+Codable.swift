extension RestorationReport.NodeOutcome {
  private var coded: CodedCase.Content {
    switch self {
    case .restored(let by): ("restored", ["by": by])
    case .restoredWithoutState(let by): ("restoredWithoutState", ["by": by])
    case .decodeFailed(let by, let text): ("decodeFailed", ["by": by, "_1": text])
    case .newerVersion(let by, let stored, let known):
      ("newerVersion", ["by": by, "stored": stored, "known": known])
    case .migrationFailed(let by, let from, let text):
      ("migrationFailed", ["by": by, "from": from, "_2": text])
    case .kept(let by, let text): ("kept", ["by": by, "_1": text])
    case .classMismatch(let by, let found): ("classMismatch", ["by": by, "found": found])
    case .vetoed: ("vetoed", [:])
    case .factoryFailed(let step, let text): ("factoryFailed", ["_0": step, "_1": text])
    case .unknownRestorationClass(let text): ("unknownRestorationClass", ["_0": text])
    case .notARestorationClass(let text): ("notARestorationClass", ["_0": text])
    case .notFound: ("notFound", [:])
    case .notInStoryboard(let text, let identifier):
      ("notInStoryboard", ["_0": text, "identifier": identifier])
    case .notRegistered: ("notRegistered", [:])
    case .viewNotFound: ("viewNotFound", [:])
    case .stackCut: ("stackCut", [:])
    case .tabNotFound: ("tabNotFound", [:])
    case .providedTwice(let path): ("providedTwice", ["_0": path])
    case .parentMissing(let path): ("parentMissing", ["_0": path])
    case .unreadable(let text): ("unreadable", ["_0": text])
    case .skipped: ("skipped", [:])
    case .laterStateRestored: ("laterStateRestored", [:])
    }
  }

  /// Writes the name of the case, with its values under their labels.
  public func encode(to encoder: any Encoder) throws {
    try CodedCase.encode(coded, to: encoder)
  }

  /// Reads a case from ``encode(to:)``.
  public init(from decoder: any Decoder) throws {
    let stored = try CodedCase(from: decoder)
    switch stored.name {
    case "restored": self = .restored(by: try stored.value("by"))
    case "restoredWithoutState": self = .restoredWithoutState(by: try stored.value("by"))
    case "decodeFailed": self = .decodeFailed(by: try stored.value("by"), try stored.value("_1"))
    case "newerVersion":
      self = .newerVersion(
        by: try stored.valueIfPresent("by"), stored: try stored.value("stored"),
        known: try stored.value("known"))
    case "migrationFailed":
      self = .migrationFailed(
        by: try stored.valueIfPresent("by"), from: try stored.value("from"), try stored.value("_2"))
    case "kept": self = .kept(by: try stored.valueIfPresent("by"), try stored.value("_1"))
    case "classMismatch":
      self = .classMismatch(by: try stored.value("by"), found: try stored.value("found"))
    case "vetoed": self = .vetoed
    case "factoryFailed": self = .factoryFailed(try stored.value("_0"), try stored.value("_1"))
    case "unknownRestorationClass": self = .unknownRestorationClass(try stored.value("_0"))
    case "notARestorationClass": self = .notARestorationClass(try stored.value("_0"))
    case "notFound": self = .notFound
    case "notInStoryboard":
      self = .notInStoryboard(try stored.value("_0"), identifier: try stored.value("identifier"))
    case "notRegistered": self = .notRegistered
    case "viewNotFound": self = .viewNotFound
    case "stackCut": self = .stackCut
    case "tabNotFound": self = .tabNotFound
    case "providedTwice": self = .providedTwice(try stored.value("_0"))
    case "parentMissing": self = .parentMissing(try stored.value("_0"))
    case "unreadable": self = .unreadable(try stored.value("_0"))
    case "skipped": self = .skipped
    case "laterStateRestored": self = .laterStateRestored
    default: throw stored.isUnknown(to: Self.self)
    }
  }
}

extension RestorationReport.Outcome {
  private var coded: CodedCase.Content {
    switch self {
    case .restored: ("restored", [:])
    case .noArchive: ("noArchive", [:])
    case .nothingKept: ("nothingKept", [:])
    case .declined: ("declined", [:])
    case .delegateGone: ("delegateGone", [:])
    case .locked: ("locked", [:])
    case .crashed(let setAsideAt): ("crashed", ["setAsideAt": setAsideAt])
    case .inUse(let by): ("inUse", ["by": by])
    }
  }

  /// Writes the name of the case, with its values under their labels.
  public func encode(to encoder: any Encoder) throws {
    try CodedCase.encode(coded, to: encoder)
  }

  /// Reads a case from ``encode(to:)``.
  public init(from decoder: any Decoder) throws {
    let stored = try CodedCase(from: decoder)
    switch stored.name {
    case "restored": self = .restored
    case "noArchive": self = .noArchive
    case "nothingKept": self = .nothingKept
    case "declined": self = .declined
    case "delegateGone": self = .delegateGone
    case "locked": self = .locked
    case "crashed": self = .crashed(setAsideAt: try stored.valueIfPresent("setAsideAt"))
    case "inUse": self = .inUse(by: try stored.valueIfPresent("by"))
    default: throw stored.isUnknown(to: Self.self)
    }
  }
}

extension PreservationReport.NodeOutcome {
  private var coded: CodedCase.Content {
    switch self {
    case .saved: ("saved", [:])
    case .savedWithoutState: ("savedWithoutState", [:])
    case .keptAsStored: ("keptAsStored", [:])
    case .expired(let since, let byteCount): ("expired", ["since": since, "byteCount": byteCount])
    case .crowdedOut(let since, let byteCount):
      ("crowdedOut", ["since": since, "byteCount": byteCount])
    case .replaced: ("replaced", [:])
    case .savedWithLastState: ("savedWithLastState", [:])
    case .noIdentifier: ("noIdentifier", [:])
    case .excluded(let by): ("excluded", ["by": by])
    case .duplicate: ("duplicate", [:])
    case .containedTwice: ("containedTwice", [:])
    }
  }

  /// The name of the case, without its values.
  var name: String { coded.name }

  /// Writes the name of the case, with its values under their labels.
  public func encode(to encoder: any Encoder) throws {
    try CodedCase.encode(coded, to: encoder)
  }

  /// Reads a case from ``encode(to:)``.
  public init(from decoder: any Decoder) throws {
    let stored = try CodedCase(from: decoder)
    switch stored.name {
    case "saved": self = .saved
    case "savedWithoutState": self = .savedWithoutState
    case "keptAsStored": self = .keptAsStored
    case "expired":
      self = .expired(since: try stored.value("since"), byteCount: try stored.value("byteCount"))
    case "crowdedOut":
      self = .crowdedOut(since: try stored.value("since"), byteCount: try stored.value("byteCount"))
    case "replaced": self = .replaced
    case "savedWithLastState": self = .savedWithLastState
    case "noIdentifier": self = .noIdentifier
    case "excluded": self = .excluded(by: try stored.value("by"))
    case "duplicate": self = .duplicate
    case "containedTwice": self = .containedTwice
    default: throw stored.isUnknown(to: Self.self)
    }
  }
}

extension PreservationReport.Outcome {
  private var coded: CodedCase.Content {
    switch self {
    case .saved: ("saved", [:])
    case .delegateGone: ("delegateGone", [:])
    case .declined: ("declined", [:])
    case .disconnected: ("disconnected", [:])
    case .locked: ("locked", [:])
    case .inUse(let by): ("inUse", ["by": by])
    case .refused(let refusal): ("refused", ["_0": refusal])
    }
  }

  /// Writes the name of the case, with its values under their labels.
  public func encode(to encoder: any Encoder) throws {
    try CodedCase.encode(coded, to: encoder)
  }

  /// Reads a case from ``encode(to:)``.
  public init(from decoder: any Decoder) throws {
    let stored = try CodedCase(from: decoder)
    switch stored.name {
    case "saved": self = .saved
    case "delegateGone": self = .delegateGone
    case "declined": self = .declined
    case "disconnected": self = .disconnected
    case "locked": self = .locked
    case "inUse": self = .inUse(by: try stored.valueIfPresent("by"))
    case "refused": self = .refused(try stored.value("_0"))
    default: throw stored.isUnknown(to: Self.self)
    }
  }
}
