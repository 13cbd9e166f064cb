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
  package var leftOut = LeftOut()
  /// How many launches in a row crashed after the restore in a value or a late element.
  package var laterCrashes: [LaunchSubject: Int] = [:]
  package var seenOld: SeenOld?
  private var valueKey: [UInt8]?

  package init() {}

  /// Makes the tags of values, as long as there is a record that has some; nil before the first restore.
  package var valueTag: NumberTag? { valueKey.flatMap { NumberTag(key: $0) } }

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
    if isFirst { leftOut.endLaunch(crashedIn: subject) }
    (crashes, version, applicationVersion, bootSession) = (0, nil, nil, nil)
    (gaveWay, isFirst, isPutBack) = (false, false, false)
    guard let subject else { return laterCrashes = [:] }
    let count = min(max(0, laterCrashes[subject] ?? 0), .max - 1) + 1
    laterCrashes[subject] = count < max(1, threshold) ? count : nil
    if count >= max(1, threshold) { leftOut.add([subject], by: environment.applicationVersion) }
  }

  fileprivate func hasRestarted(in environment: ApplicationEnvironment) -> Bool {
    bootSession != nil && environment.bootSession != nil && bootSession != environment.bootSession
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
    if isCounted { crashes = min(max(0, crashes), .max - 1) + 1 }
    if valueTag == nil { valueKey = NumberTag().key }
    (self.version, self.isFirst) = (version, isFirst)
    (applicationVersion, bootSession) = (environment.applicationVersion, environment.bootSession)
    // Somebody uses the state.
    seenOld = nil
  }
}

extension LaunchRecord {
  // A type that is coded as a whole takes the first launch half a millisecond (benchmark: launch of a
  // process), so only what most launches do not have is.
  private enum Key {
    static let (crashes, generation, mac) = ("crashes", "generation", "mac")
    static let (application, boot, valueKey, noteKey) = ("application", "boot", "value", "note")
    static let (gaveWay, isFirst, isPutBack) = ("gaveWay", "isFirst", "isPutBack")
    static let (leftOut, laterCrashes, seenOld) = ("leftOut", "laterCrashes", "seenOld")
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
        if !leftOut.subjects.isEmpty { try encoder.encode(leftOut, forKey: Key.leftOut) }
        if !laterCrashes.isEmpty { try encoder.encode(laterCrashes, forKey: Key.laterCrashes) }
        if let seenOld { try encoder.encode(seenOld, forKey: Key.seenOld) }
        encoder.encode(valueKey, forKey: Key.valueKey)
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
      record.crashes = try values.decode(forKey: Key.crashes)
      if let generation: UInt64 = try values.decodeIfPresent(forKey: Key.generation) {
        record.version = ArchiveVersion(
          generation: generation, mac: try values.decode(forKey: Key.mac))
      }
      record.applicationVersion = try values.decodeIfPresent(forKey: Key.application)
      record.bootSession = try values.decodeIfPresent(forKey: Key.boot)
      record.gaveWay = try values.decode(forKey: Key.gaveWay)
      record.isFirst = try values.decode(forKey: Key.isFirst)
      record.isPutBack = try values.decode(forKey: Key.isPutBack)
      record.leftOut = try values.decodeIfPresent(forKey: Key.leftOut) ?? LeftOut()
      record.laterCrashes = try values.decodeIfPresent(forKey: Key.laterCrashes) ?? [:]
      record.seenOld = try values.decodeIfPresent(forKey: Key.seenOld)
      record.valueKey = try values.decodeIfPresent(forKey: Key.valueKey)
      return NumberTag(key: try values.decode(forKey: Key.noteKey)).map { (record, $0) }
    } catch {
      let error = ArchiveError.content(error)
      guard error.isAboutContent else { throw error }
      return nil
    }
  }
}

// MARK: - The decision of a launch

/// The decision of a launch on the restores before it.
package struct LaunchVerdict: Hashable, Sendable {
  package enum Action: Hashable, Sendable {
    /// The launch restores the state without what is left out already.
    case restore
    /// The launch leaves out one more, and, if that did not help before, what is above all that
    /// is left out.
    case leaveOut(LaunchSubject, withThoseAbove: Bool)
    /// The launch restores an older state, or none.
    case giveWay
  }

  package var action = Action.restore
  /// How many restores in a row count from now on as begun and not ended.
  package var crashes = 0
  /// Whether what was tried again has crashed again, and is left out for longer.
  package var hasTrialFailed = false
  /// Whether something that is left out may be tried again: no other crash is near for which its
  /// own could be taken.
  package var mayTry = false

  /// An element is left out, then those above it; after that only the window or the state is left.
  private static let largestAnswer = 2

  /// Decides by what is given and nothing else.
  ///
  /// A missing note may be one that somebody has written over. So without a note a launch gives up
  /// nothing until there are as many crashes as leaving out could have answered. Another version of
  /// the app may have mended the crash.
  ///
  /// - Parameters:
  ///   - record: The record of the launches before.
  ///   - note: The place where the last one was; nil if no note says so.
  ///   - version: The version of the state that is there now.
  ///   - environment: The facts about this launch.
  ///   - threshold: How many crashes in a row are answered; less than 1 is as 1.
  package init(
    _ record: LaunchRecord, _ note: LaunchNote?, of version: ArchiveVersion,
    in environment: ApplicationEnvironment, threshold: Int
  ) {
    let isOfApplication = record.applicationVersion == environment.applicationVersion
    let isCrash =
      record.crashes > 0 && note?.stage != .ended && !record.hasRestarted(in: environment)
    hasTrialFailed = record.leftOut.isTrial && isOfApplication && isCrash
    guard record.version == version, isOfApplication else {
      mayTry = !hasTrialFailed
      return
    }
    // What was tried again is to blame for the last crash.
    guard isCrash, !hasTrialFailed else {
      crashes = max(1, record.crashes) - 1
      mayTry = crashes == 0 && !hasTrialFailed
      return
    }
    crashes = record.crashes
    let answered = crashes - max(1, threshold)
    guard answered >= 0 else { return }
    if answered < Self.largestAnswer {
      guard let note else { return }
      if let subject = note.subject {
        action = .leaveOut(subject, withThoseAbove: answered > 0)
        return
      }
    }
    let window = note?.window.flatMap { record.leftOut.subjects.contains($0) ? nil : $0 }
    action = window.map { .leaveOut($0, withThoseAbove: false) } ?? .giveWay
  }
}
