package import ArchiveCodec

/// The record of restores that began and did not end, which launches leave behind beside the state.
///
/// The record is sealed as the state is, so that nobody without the key can say that a restore has
/// crashed, or what is left out.
package struct LaunchRecord: Sendable {
  /// The restores in a row that began and did not end, with the one under way.
  package var crashes = 0
  /// The version of the state that these restores brought back: an old record says nothing about
  /// another state.
  package var version: ArchiveVersion?
  /// The version of the app that began the restores, and the start of the machine then.
  package var applicationVersion: String?
  package var bootSession: String?
  /// Whether the restored state stands in for a newer state that crashed.
  package var gaveWay = false
  /// Whether the restore was the first one of its launch.
  package var isFirst = false
  /// Whether the state was put back, so that its age does not count.
  package var isPutBack = false
  package var rest = Rest()
  /// Makes the tags of values, as long as there is a record that has some.
  package var valueTag = NumberTag()

  /// What most launches do not have.
  package struct Rest: Hashable, Codable, Sendable {
    package var leftOut = LeftOut()
    /// How many launches in a row crashed after the restore in a value or a late element.
    package var laterCrashes: [LaunchSubject: Int] = [:]
    package var seenOld: SeenOld?
  }

  package init() {}

  /// The evidence for a launch that finds the state with a version.
  package func evidence(
    _ note: LaunchNote?, of version: ArchiveVersion, in environment: ApplicationEnvironment
  ) -> LaunchEvidence {
    var evidence = LaunchEvidence()
    evidence.crashes = crashes
    evidence.isOfState = self.version == version
    evidence.isOfApplication = applicationVersion == environment.applicationVersion
    evidence.isTrial = rest.leftOut.isTrial
    evidence.hasRestarted = hasRestarted(in: environment)
    evidence.place =
      switch note?.stage {
      case nil: .unknown
      case .ended: .ended
      case .restoring, .restored: note?.subject.map { .subject($0) } ?? .outside
      }
    evidence.window = note?.window.flatMap { rest.leftOut.subjects.contains($0) ? nil : $0 }
    return evidence
  }

  private func hasRestarted(in environment: ApplicationEnvironment) -> Bool {
    bootSession != nil && environment.bootSession != nil && bootSession != environment.bootSession
  }

  /// Takes what a launch leaves behind whose restore had ended.
  ///
  /// A crash after the restore counts against its element or value alone, which is left out after
  /// too many in a row.
  package mutating func endRestore(
    _ note: LaunchNote, threshold: Int, in environment: ApplicationEnvironment
  ) {
    let isCrash =
      applicationVersion == environment.applicationVersion && !hasRestarted(in: environment)
    let subject = isCrash ? note.subject : nil
    if isFirst { rest.leftOut.endLaunch(crashedIn: subject) }
    (crashes, version, applicationVersion, bootSession) = (0, nil, nil, nil)
    (gaveWay, isFirst, isPutBack) = (false, false, false)
    guard let subject else { return rest.laterCrashes = [:] }
    let count = min(max(0, rest.laterCrashes[subject] ?? 0), .max - 1) + 1
    rest.laterCrashes[subject] = count < max(1, threshold) ? count : nil
    if count >= max(1, threshold) {
      rest.leftOut.add([subject], by: environment.applicationVersion)
    }
  }

  /// Begins a restore of a state.
  ///
  /// - Parameters:
  ///   - version: The version of the state.
  ///   - isFirst: Whether no restore has begun in this launch.
  ///   - isCounted: Whether the restore counts as one more that has begun; one of this launch that
  ///     has not ended is not counted twice.
  ///   - environment: The facts about this launch.
  package mutating func begin(
    _ version: ArchiveVersion, isFirst: Bool, isCounted: Bool,
    in environment: ApplicationEnvironment
  ) {
    if isCounted { crashes = min(crashes, .max - 1) + 1 }
    self.version = version
    (applicationVersion, bootSession) = (environment.applicationVersion, environment.bootSession)
    self.isFirst = isFirst
    // Somebody uses the state.
    rest.seenOld = nil
  }
}

extension LaunchRecord {
  private enum Key {
    static let (crashes, generation, mac) = ("crashes", "generation", "mac")
    static let (application, boot) = ("applicationVersion", "bootSession")
    static let (gaveWay, isFirst, isPutBack) = ("gaveWay", "isFirst", "isPutBack")
    static let (rest, valueKey, noteKey) = ("rest", "valueKey", "noteKey")
  }

  /// Seals the record with the key of its note.
  package func sealed(
    noteTag: NumberTag, _ key: ArchiveKey, _ context: ArchiveContext
  ) throws(ArchiveError) -> [UInt8] {
    let builder = RecordBuilder()
    do {
      try builder.append(record: 1) { encoder in
        encoder.encode(crashes, forKey: Key.crashes)
        encoder.encode(version?.generation, forKey: Key.generation)
        encoder.encode(version?.mac, forKey: Key.mac)
        encoder.encode(applicationVersion, forKey: Key.application)
        encoder.encode(bootSession, forKey: Key.boot)
        encoder.encode(gaveWay, forKey: Key.gaveWay)
        encoder.encode(isFirst, forKey: Key.isFirst)
        encoder.encode(isPutBack, forKey: Key.isPutBack)
        if rest != Rest() { try encoder.encode(rest, forKey: Key.rest) }
        encoder.encode(valueTag.key, forKey: Key.valueKey)
        encoder.encode(noteTag.key, forKey: Key.noteKey)
      }
      return try SealedRecord.seal(try builder.finish(), key: key, context: context)
    } catch {
      throw .content(error)
    }
  }

  /// Opens a record, with the key of its note.
  ///
  /// - Returns: Nil for bytes that are no record: damage must not stop a restore, and anybody who
  ///   can damage the record could remove it as well.
  /// - Throws: `cryptographyUnavailable`.
  package static func open(
    _ bytes: [UInt8], _ key: ArchiveKey, _ context: ArchiveContext
  ) throws(ArchiveError) -> (record: LaunchRecord, noteTag: NumberTag)? {
    do {
      let values = try SealedRecord.open(bytes, key: key, context: context).values
      var record = LaunchRecord()
      record.crashes = max(0, try values.decode(forKey: Key.crashes))
      if let generation = try values.decodeIfPresent(UInt64.self, forKey: Key.generation) {
        record.version = ArchiveVersion(
          generation: generation, mac: try values.decode(forKey: Key.mac))
      }
      record.applicationVersion = try values.decodeIfPresent(forKey: Key.application)
      record.bootSession = try values.decodeIfPresent(forKey: Key.boot)
      record.gaveWay = try values.decode(forKey: Key.gaveWay)
      record.isFirst = try values.decode(forKey: Key.isFirst)
      record.isPutBack = try values.decode(forKey: Key.isPutBack)
      record.rest = try values.decodeIfPresent(Rest.self, forKey: Key.rest) ?? Rest()
      guard let valueTag = NumberTag(key: try values.decode(forKey: Key.valueKey)),
        let noteTag = NumberTag(key: try values.decode(forKey: Key.noteKey))
      else { return nil }
      record.valueTag = valueTag
      return (record, noteTag)
    } catch {
      let error = ArchiveError.content(error)
      guard error.isAboutContent else { throw error }
      return nil
    }
  }
}
