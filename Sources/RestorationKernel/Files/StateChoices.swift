package import ArchiveCodec
#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What is found where a state is stored.
package enum StateFinding: Hashable, Sendable {
  /// There is no file, or one without bytes, as a power cut leaves one.
  case absent
  case whole
  /// The last change is cut off, so nobody was told that it is stored.
  case torn
  /// A change that was reported as stored cannot be read.
  case damagedEnd
  /// Only a newer version of the library may change the archive, or hardly another change has a number.
  case readOnly
  case unreadable(ArchiveError.Code)
  /// Restores of it crashed too often.
  case crashed
  /// Another file is there than the one that this instance has open.
  case replacedByOthers
  /// Nobody has looked yet.
  case unread

  /// Finds out what an archive is that was opened.
  package init(of archive: Archive) {
    self =
      if !archive.isWritable || archive.version.generation > .max - 1 << 32 {
        .readOnly
      } else if let dropped = archive.dropped {
        dropped.code == .truncated ? .torn : .damagedEnd
      } else {
        .whole
      }
  }

  /// Why what is stored stays as a moment before the first write; nil if it was read whole.
  package var keeps: Moment.Reason? {
    switch self {
    case .whole, .torn: return nil
    case .damagedEnd: return .damaged
    case .crashed: return .crashed
    case .replacedByOthers: return .conflict
    // Somebody may put something there before the first write.
    case .absent, .readOnly, .unread: return .unread
    case .unreadable(.unsupportedVersion), .unreadable(.unsupportedFeature),
      .unreadable(.wrongKey), .unreadable(.wrongContext):
      return .unread
    case .unreadable(let code): return ArchiveError(code).isAboutContent ? .damaged : .unread
    }
  }
}

/// The order in which an instance tries the names of a state; who has a name is who has its lock.
package enum InstanceName {
  /// More instances than anybody runs; beyond that all states count as in use.
  package static let largestNumber = 1000

  /// Takes the first name that is free.
  ///
  /// - Parameters:
  ///   - name: The name that was asked for.
  ///   - last: The name that the instance had last: an instance never goes on under the name of
  ///     another one, as long as its own is free.
  ///   - policy: Whether names with numbers are tried.
  ///   - take: Takes a name; nil if another instance has it.
  /// - Returns: What `take` returned; nil if no name is free.
  /// - Throws: The errors of `take`.
  package static func first<Taken>(
    _ name: String, last: String?, _ policy: InstancePolicy,
    _ take: (String) throws(ArchiveError) -> Taken?
  ) throws(ArchiveError) -> Taken? {
    guard policy == .numbered else { return try take(name) }
    if let last, last != name, let taken = try take(last) { return taken }
    for number in 1...largestNumber {
      if let taken = try take(number == 1 ? name : "\(name)~\(number)") { return taken }
    }
    return nil
  }
}

/// How a launch has seen a state that was too old.
package struct SeenOld: Hashable, Codable, Sendable {
  /// When the state was saved, by its own clock.
  package var savedAt: Date
  /// The start of the machine, and how long it had run then, in seconds.
  package var bootSession: String?
  package var uptime: Double

  package init(savedAt: Date, bootSession: String?, uptime: Double) {
    (self.savedAt, self.bootSession, self.uptime) = (savedAt, bootSession, uptime)
  }
}

/// What becomes of a state because of its age.
package enum AgeVerdict: Hashable, Sendable {
  case restore
  /// The state stays where it is, and the launch is noted: its clock may be wrong.
  case leave
  /// Two launches that cannot have had one wrong clock say the same.
  case giveUp

  /// - Parameters:
  ///   - seen: How this launch sees the state.
  ///   - before: How an earlier launch has seen a state that was too old.
  ///   - now: The time, by the clock of the app.
  ///   - maximumAge: The age over which a state is not restored, in seconds; nil for any age.
  package init(_ seen: SeenOld, before: SeenOld?, now: Date, maximumAge: TimeInterval?) {
    guard let maximumAge, now.timeIntervalSince(seen.savedAt) > maximumAge else {
      self = .restore
      return
    }
    guard let before, before.savedAt == seen.savedAt else {
      self = .leave
      return
    }
    let passed = seen.uptime - before.uptime
    self =
      before.bootSession != seen.bootSession || passed < 0 || passed >= 24 * 60 * 60
      ? .giveUp : .leave
  }
}
