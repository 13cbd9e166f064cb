import ArchiveCodec
import Crypto
import Foundation
import RestorationKit
import RestorationSharing

/// Links that hand what a user is doing over to another device, once.
struct Handovers: Sendable {
  static let lifetime: TimeInterval = 600
  static let mostLinks = 20

  /// What is stored: an activity, sealed under the key of its user and then under one that only
  /// the link has.
  private struct Entry: Codable {
    let end: Date
    let sealed: Data
  }

  let entries: Entries
  let keys: UserKeys
  let duration: TimeInterval

  private static let prefix = "web.handover."
  private static let context = ArchiveContext([Scenes.application, "handover"])

  /// Stores what a user is doing.
  ///
  /// - Returns: The token for the link; the store has a hash of it alone.
  /// - Throws: `tooManyLinks` if the user has as many as one may have that nobody has used.
  func offer(_ activity: UserActivity, of user: User) async throws -> RandomName {
    try await expectRoom(for: 1, of: user)
    let token = RandomName()
    let inner = try ArchiveEncoder().encode(
      activity, key: try await key(of: user), context: Self.context)
    let sealed = try ArchiveEncoder().encode(
      Data(inner), key: Self.key(token), context: Self.context)
    let entry = Entry(end: Date() + duration, sealed: Data(sealed))
    let name = Self.name(token, of: user)
    guard try await entries.replace(name, with: entry, expecting: nil) else {
      throw WebProblem.unavailable("This link could not be made. Try again.")
    }
    do {
      // Others may have been made meanwhile, also by other servers.
      try await expectRoom(for: 0, of: user)
    } catch {
      try await entries.remove(name)
      throw error
    }
    return token
  }

  private func expectRoom(for count: Int, of user: User) async throws {
    let prefix = Self.prefix + user.mark
    guard try await entries.names(prefix: prefix).count + count > Self.mostLinks else { return }
    try await removeExpired(prefix: prefix)
    guard try await entries.names(prefix: prefix).count + count <= Self.mostLinks else {
      throw WebProblem.tooManyLinks
    }
  }

  /// What a link hands over; it can still be taken.
  struct Offer {
    let activity: UserActivity
    fileprivate let name: String
    fileprivate let version: RemoteVersion
  }

  /// Looks at what a link hands over.
  ///
  /// - Throws: `linkUsed` if it was taken or is over, and for another user's as well.
  func look(_ token: RandomName, as user: User) async throws -> Offer {
    let name = Self.name(token, of: user)
    guard let (entry, version) = try await entries.load(name, as: Entry.self) else {
      throw WebProblem.linkUsed
    }
    guard Date() < entry.end else {
      _ = try await entries.remove(name, expecting: version)
      throw WebProblem.linkUsed
    }
    let key = try await key(of: user)
    do {
      let inner = try ArchiveDecoder().decode(
        Data.self, from: Array(entry.sealed), key: Self.key(token), context: Self.context)
      let activity = try ArchiveDecoder().decode(
        UserActivity.self, from: Array(inner), key: key, context: Self.context)
      return Offer(activity: activity, name: name, version: version)
    } catch {
      throw WebProblem.linkUsed
    }
  }

  private func key(of user: User) async throws -> ArchiveKey {
    guard let key = try await keys.provider(of: user).key(creating: false) else {
      throw WebProblem.linkUsed
    }
    return key
  }

  /// Takes what was looked at; of all who try, also at other servers, one gets true.
  func take(_ offer: Offer) async throws -> Bool {
    try await entries.remove(offer.name, expecting: offer.version)
  }

  /// Removes all that a user has not taken yet, which takes no key.
  func removeAll(of user: User) async throws {
    try await entries.removeAll(prefix: Self.prefix + user.mark)
  }

  /// Removes what nobody has taken in time.
  func removeExpired() async throws { try await removeExpired(prefix: Self.prefix) }

  private func removeExpired(prefix: String) async throws {
    for name in try await entries.names(prefix: prefix) {
      guard let (entry, version) = try await entries.load(name, as: Entry.self),
        entry.end <= Date()
      else { continue }
      _ = try await entries.remove(name, expecting: version)
    }
  }

  private static func name(_ token: RandomName, of user: User) -> String {
    "\(prefix)\(user.mark)-\(Hex.text(SHA256.hash(data: Data("name\n\(token)".utf8))))"
  }

  private static func key(_ token: RandomName) throws -> ArchiveKey {
    var bytes = Array(SHA256.hash(data: Data("key\n\(token)".utf8)))
    return try bytes.withUnsafeMutableBytes { try ArchiveKey(moving: $0) }
  }
}
