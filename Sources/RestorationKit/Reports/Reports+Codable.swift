internal import ArchiveCodec

// A table in a report holds the names of all paths once; entries refer to its rows by number.

extension PreservationReport {
  private enum CodingKeys: String, CodingKey {
    case paths
    case outcome
    case lines = "entries"
    case kept
    case version
    case unaskedCount
    case byteCount
    case writtenByteCount
    case walkDuration
    case setAside
    case unsent
    case unsentAside
    case stateName
    case otherInstances
  }

  /// Writes the whole report; each path as the number of its row in `paths`, from 1 on.
  ///
  /// A row has the number of the path above it, if there is one, and a name.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodePaths(forKey: .paths) { container in
      try container.encode(outcome, forKey: .outcome)
      try container.encode(lines, forKey: .lines)
      try container.encode(kept, forKey: .kept)
      try container.encodeIfPresent(version, forKey: .version)
      try container.encode(unaskedCount, forKey: .unaskedCount)
      try container.encode(byteCount, forKey: .byteCount)
      try container.encode(writtenByteCount, forKey: .writtenByteCount)
      try container.encode(walkDuration, forKey: .walkDuration)
      try container.encodeIfPresent(setAside, forKey: .setAside)
      try container.encodeIfPresent(unsent, forKey: .unsent)
      try container.encodeIfPresent(unsentAside, forKey: .unsentAside)
      try container.encodeIfPresent(stateName, forKey: .stateName)
      try container.encode(otherInstances, forKey: .otherInstances)
    }
  }

  /// Reads a report from ``encode(to:)``, or from earlier versions, which wrote whole paths.
  public init(from decoder: any Decoder) throws {
    self = try decoder.container(keyedBy: CodingKeys.self)
      .decodePaths(forKey: .paths, of: Self.init)
  }

  private init(_ container: KeyedDecodingContainer<CodingKeys>) throws {
    self.init(try container.decode(Outcome.self, forKey: .outcome))
    lines = try container.decode(ReportEntries<NodeOutcome>.self, forKey: .lines)
    kept = try container.decode([KeptElement].self, forKey: .kept)
    version = try container.decodeIfPresent(ArchiveVersion.self, forKey: .version)
    unaskedCount = try container.decode(Int.self, forKey: .unaskedCount)
    byteCount = try container.decode(Int.self, forKey: .byteCount)
    writtenByteCount = try container.decode(Int.self, forKey: .writtenByteCount)
    walkDuration = try container.decode(Duration.self, forKey: .walkDuration)
    setAside = try container.decodeIfPresent(String.self, forKey: .setAside)
    unsent = try container.decodeIfPresent(String.self, forKey: .unsent)
    unsentAside = try container.decodeIfPresent(String.self, forKey: .unsentAside)
    stateName = try container.decodeIfPresent(String.self, forKey: .stateName)
    otherInstances = try container.decode([OtherInstance].self, forKey: .otherInstances)
  }
}

extension RestorationReport {
  private enum CodingKeys: String, CodingKey {
    case paths
    case outcome
    case lines = "entries"
    case source
    case kept
    case launchProblem
    case stateName
    case otherInstances
    case walkDuration
  }

  /// Writes the whole report; each path as the number of its row in `paths`, from 1 on.
  ///
  /// A row has the number of the path above it, if there is one, and a name.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodePaths(forKey: .paths) { container in
      try container.encode(outcome, forKey: .outcome)
      try container.encode(lines, forKey: .lines)
      try container.encodeIfPresent(source, forKey: .source)
      try container.encode(kept, forKey: .kept)
      try container.encodeIfPresent(launchProblem, forKey: .launchProblem)
      try container.encodeIfPresent(stateName, forKey: .stateName)
      try container.encode(otherInstances, forKey: .otherInstances)
      try container.encode(walkDuration, forKey: .walkDuration)
    }
  }

  /// Reads a report from ``encode(to:)``, or from earlier versions, which wrote whole paths.
  public init(from decoder: any Decoder) throws {
    self = try decoder.container(keyedBy: CodingKeys.self)
      .decodePaths(forKey: .paths, of: Self.init)
  }

  private init(_ container: KeyedDecodingContainer<CodingKeys>) throws {
    self.init(try container.decode(Outcome.self, forKey: .outcome))
    lines = try container.decode(ReportEntries<NodeOutcome>.self, forKey: .lines)
    source = try container.decodeIfPresent(Source.self, forKey: .source)
    kept = try container.decode([KeptElement].self, forKey: .kept)
    launchProblem = try container.decodeIfPresent(String.self, forKey: .launchProblem)
    stateName = try container.decodeIfPresent(String.self, forKey: .stateName)
    otherInstances = try container.decode([OtherInstance].self, forKey: .otherInstances)
    walkDuration = try container.decode(Duration.self, forKey: .walkDuration)
  }
}
