internal import ArchiveCodec
internal import RestorationFoundation

/// A state that stays stored beside a later one of the same element.
///
/// The app could not read the state when the later one was saved. It lies in the record of
/// the element, in a container that earlier versions of the library skip.
struct KeptState: Sendable {
  /// Tells the state apart from all others in one stored tree.
  struct ID: Hashable, Sendable {
    let record: UInt64
    /// 0 for the state of the record itself.
    let index: Int
  }

  let id: ID
  let className: String
  let restorationClassName: String?
  let version: Int
  /// When a save kept the state for the first time.
  var since: Date?
  /// The period of launches without the element, if one of them saved the state that
  /// follows this one; else nil.
  var leftOut: LeftOutPeriod?
  /// Why the object itself has kept the state for later; nil if nobody could read the state.
  var reason: String?
  var values: StoredTree.Values

  private init(
    _ id: ID, _ className: String, restorationClassName: String?, version: Int, since: Date?,
    leftOut: LeftOutPeriod? = nil, reason: String? = nil, _ values: StoredTree.Values
  ) {
    self.id = id
    self.className = className
    self.restorationClassName = restorationClassName
    self.version = version
    self.since = since
    self.leftOut = leftOut
    self.reason = reason
    self.values = values
  }

  /// The own state of an element's record, as a kept one.
  init(of element: StoredTree.Element) {
    self.init(
      ID(record: element.record, index: 0), element.content.className,
      restorationClassName: element.content.restorationClassName,
      version: element.content.version, since: element.content.keptSince, element.values)
  }
}

extension KeptState {
  /// A state that was never stored: the one that an object had when it was given another one.
  init(
    replaced id: ID, _ className: String, restorationClassName: String?, version: Int,
    _ values: StoredTree.Values
  ) {
    self.init(
      id, className, restorationClassName: restorationClassName, version: version, since: nil,
      values)
  }
}

// MARK: - In a record

extension KeptState {
  private typealias Key = NodeRecord.Key

  /// The kept states in the container of a record, newest first.
  static func all(
    in container: KeyedDecoder, of record: UInt64
  ) throws(ArchiveError) -> [KeptState] {
    var all: [KeptState] = []
    for index in 1..<(container.keyCount + 1) {
      guard let kept = try container.container(forKey: "\(index)") else {
        throw ArchiveError(.malformed, path: [Key.kept.rawValue], subject: "kept states")
      }
      all.append(try KeptState(kept, ID(record: record, index: index)))
    }
    return all
  }

  private init(_ kept: KeyedDecoder, _ id: ID) throws(ArchiveError) {
    let node = try kept.container(forKey: Key.node.rawValue)
    guard let node, let className = try node.name(forKey: Key.className.rawValue) else {
      throw ArchiveError(.malformed, path: [Key.kept.rawValue], subject: "kept states")
    }
    let restoresItself: Bool =
      try node.decodeIfPresent(forKey: Key.restoresItself.rawValue) ?? false
    self.init(
      id, className,
      restorationClassName: restoresItself
        ? className : try node.name(forKey: Key.restorationClass.rawValue),
      version: try node.decodeIfPresent(forKey: Key.version.rawValue) ?? 1,
      since: try node.decodeIfPresent(Date.self, forKey: Key.keptSince.rawValue)?.ifNumber,
      leftOut: try node.decodeIfPresent(forKey: Key.leftOut.rawValue)
        .map { LeftOutPeriod(number: $0) },
      reason: try node.decodeIfPresent(forKey: Key.reason.rawValue),
      StoredTree.Values(
        builtIn: try kept.container(forKey: Key.builtIn.rawValue),
        state: try kept.container(forKey: Key.state.rawValue)))
  }

  /// Writes the container of a record.
  ///
  /// - Parameters:
  ///   - states: The states, newest first.
  ///   - encoder: The encoder of the record.
  ///   - reference: The present record in place of a stored one; nil if there is none.
  /// - Throws: ``ArchiveError`` as `KeyedEncoder.copyAll` does; nothing remains then.
  static func encode(
    _ states: [KeptState], with encoder: KeyedEncoder,
    reference: @escaping (UInt64) -> UInt64?
  ) throws(ArchiveError) {
    guard !states.isEmpty else { return }
    try encoder.encodeContainer(forKey: Key.kept.rawValue) { encoder throws(ArchiveError) in
      for (place, state) in states.enumerated() {
        try encoder.encodeContainer(forKey: "\(place + 1)") { encoder throws(ArchiveError) in
          encoder.encodeContainer(forKey: Key.node.rawValue) { state.encodeForm(with: $0) }
          try state.values.copy(to: encoder, reference: reference)
        }
      }
    }
  }

  private func encodeForm(with encoder: KeyedEncoder) {
    encoder.encode(name: className, forKey: Key.className.rawValue)
    if version != 1 { encoder.encode(version, forKey: Key.version.rawValue) }
    if restorationClassName == className {
      encoder.encode(true, forKey: Key.restoresItself.rawValue)
    } else {
      encoder.encode(name: restorationClassName, forKey: Key.restorationClass.rawValue)
    }
    encoder.encode(since, forKey: Key.keptSince.rawValue)
    encoder.encode(leftOut?.number, forKey: Key.leftOut.rawValue)
    encoder.encode(reason, forKey: Key.reason.rawValue)
  }
}

extension StoredTree.Values {
  /// Writes all values as they were stored.
  func copy(
    to encoder: KeyedEncoder, reference: @escaping (UInt64) -> UInt64?
  ) throws(ArchiveError) {
    let parts = [(NodeRecord.builtInKey, builtIn), (NodeRecord.stateKey, state)]
    for case (let key, let stored?) in parts {
      try encoder.encodeContainer(forKey: key) { encoder throws(ArchiveError) in
        try encoder.copyAll(from: stored, reference: reference)
      }
    }
  }
}
