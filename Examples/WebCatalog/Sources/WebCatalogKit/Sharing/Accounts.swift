import ArchiveCodec
import Foundation
import RestorationKit

/// The accounts, which all servers share.
///
/// This is a demonstration: a name that nobody has is taken by who comes first.
struct Accounts: Sendable {
  /// What is stored of an account.
  private struct Account: Codable {
    let id: RandomName
    /// Opens with the passphrase alone; nil without one.
    let lock: Data?
    var ended = EndedSessions()
  }

  let entries: Entries
  let signatures: Signatures
  let now: @Sendable () -> Date
  private let locks = PassphraseLocks()

  init(_ entries: Entries, _ signatures: Signatures, now: @escaping @Sendable () -> Date) {
    (self.entries, self.signatures, self.now) = (entries, signatures, now)
  }

  private func entry(_ name: String) -> String {
    "web.account.\(signatures.sign(.user, name))"
  }

  /// Signs in, to a new account if there is none of the name.
  func signIn(_ text: String, passphrase: String) async throws -> User {
    guard let name = User.usableName(text) else { throw WebProblem.badName }
    guard passphrase.utf8.count <= 1024 else { throw WebProblem.tooLarge }
    while true {
      if let account = try await entries.load(entry(name), as: Account.self)?.value {
        if let lock = account.lock {
          guard await locks.opens(lock, passphrase) else { throw WebProblem.wrongPassphrase }
        }
        return User(name, account: account.id, signatures)
      }
      let lock = passphrase.isEmpty ? nil : try await locks.make(passphrase)
      let account = Account(id: RandomName(), lock: lock)
      // If another server was first, its account counts.
      if try await entries.replace(entry(name), with: account, expecting: nil) {
        return User(name, account: account.id, signatures)
      }
    }
  }

  /// Whether the account of a user is still there.
  func has(_ user: User) async throws -> Bool {
    try await entries.load(entry(user.name), as: Account.self)?.value.id == user.account
  }

  /// Whether the account of a session is still there, and nobody has signed the session out.
  func has(_ session: Session) async throws -> Bool {
    guard let user = session.user else { return false }
    let account = try await entries.load(entry(user.name), as: Account.self)?.value
    return account?.id == user.account && account?.ended.contains(session) == false
  }

  /// Signs a session out: no server takes its cookie any more, nor a copy of it.
  func end(_ session: Session) async throws {
    guard let user = session.user else { return }
    try await entries.update(entry(user.name)) { (account: inout Account) in
      if account.id == user.account { account.ended.insert(session, now: now()) }
    }
  }

  /// Removes the account; one of the same name that is made later is another user's.
  func remove(_ user: User) async throws {
    guard let (account, version) = try await entries.load(entry(user.name), as: Account.self),
      account.id == user.account
    else { return }
    guard try await entries.remove(entry(user.name), expecting: version) else {
      throw WebProblem.unavailable("Somebody else changes this account. Try again.")
    }
  }
}

/// Sessions that were signed out before their cookies are too old.
private struct EndedSessions: Codable {
  /// When each of them ended: no copy of its cookie was renewed after that.
  private var ends: [String: Date] = [:]
  /// All that had begun by then are signed out.
  private var limit = Date(timeIntervalSince1970: 0)

  private static let mostCount = 50

  func contains(_ session: Session) -> Bool {
    session.begun <= limit || ends[session.id.description] != nil
  }

  /// If there are too many, the oldest makes room, and all that had begun when it ended end, too.
  mutating func insert(_ session: Session, now: Date) {
    ends[session.id.description] = now
    ends = ends.filter { !Session.isOver($0.value, now: now) }
    guard ends.count > Self.mostCount, let oldest = ends.min(by: { $0.value < $1.value })
    else { return }
    limit = max(limit, oldest.value)
    ends[oldest.key] = nil
  }
}

/// Tries passphrases, one at a time: each try takes 64 MiB.
private actor PassphraseLocks {
  private static let context = ArchiveContext([Scenes.application, "passphrase"])

  func make(_ passphrase: String) throws -> Data {
    Data(
      try ArchiveEncoder().encode(
        true, slots: [.passphrase(Passphrase(passphrase), cost: .interactive)],
        context: Self.context))
  }

  func opens(_ lock: Data, _ passphrase: String) -> Bool {
    do {
      return try ArchiveDecoder().decode(
        Bool.self, from: Array(lock), with: .passphrase(Passphrase(passphrase)),
        context: Self.context)
    } catch {
      return false
    }
  }
}
