import Foundation

/// What the cookie of a browser says: who it is, since when, and that this server said so.
struct Session: Hashable, Sendable {
  /// Another one after each sign-in, so that nobody can plant one that they know.
  let id: RandomName
  let user: User?
  /// When the user signed in, or when the cookie was renewed last.
  private(set) var begun: Date

  static let cookie = "session"
  static let lifetime: TimeInterval = 30 * 24 * 3600

  init(of user: User?, now: Date) {
    (id, self.user) = (RandomName(), user)
    begun = now
  }

  /// Reads a cookie; nil if it is not signed by a server of ours, or too old.
  init?(_ cookie: String, _ signatures: Signatures, now: Date) {
    let parts = cookie.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 5, let id = RandomName(parts[0]), let begun = Int(parts[3]),
      signatures.isValid(parts[4], .session, parts[..<4].joined(separator: "."))
    else { return nil }
    self.id = id
    self.begun = Date(timeIntervalSince1970: Double(begun))
    guard !Self.isOver(self.begun, now: now) else { return nil }
    guard let account = RandomName(parts[1]) else {
      user = nil
      return
    }
    guard let name = Hex.bytes(parts[2]) else { return nil }
    user = User(String(decoding: name, as: UTF8.self), account: account, signatures)
  }

  /// Whether a session that began then is too old.
  static func isOver(_ begun: Date, now: Date) -> Bool {
    now.timeIntervalSince(begun) >= lifetime
  }

  /// The same with all of its time before it; nil while it has half of that.
  func renewed(now: Date) -> Session? {
    guard now.timeIntervalSince(begun) >= Self.lifetime / 2 else { return nil }
    var session = self
    session.begun = now
    return session
  }

  func cookie(_ signatures: Signatures) -> String {
    let account = user?.account.description ?? ""
    let name = Hex.text(user?.name.utf8.map(\.self) ?? [])
    let text = "\(id).\(account).\(name).\(Int(begun.timeIntervalSince1970))"
    return "\(text).\(signatures.sign(.session, text))"
  }

  /// What each form of this session carries, and no other page knows.
  func formToken(_ signatures: Signatures) -> String {
    signatures.sign(.form, id.description)
  }

  func isFormToken(_ token: String, _ signatures: Signatures) -> Bool {
    signatures.isValid(token, .form, id.description)
  }
}

/// Somebody who has signed in.
struct User: Hashable, Sendable {
  let name: String
  /// The account that was signed in to; another one of the same name is another user.
  let account: RandomName
  /// Names the user in the store, where nobody can read who it is.
  let mark: String

  private static let longestName = 40

  init(_ name: String, account: RandomName, _ signatures: Signatures) {
    self.name = name
    self.account = account
    mark = String(signatures.sign(.user, "\(name)\n\(account)").prefix(32))
  }

  /// A name as it is compared; nil if it is none.
  static func usableName(_ text: String) -> String? {
    let name = text.trimmingCharacters(in: .whitespaces).precomposedStringWithCanonicalMapping
    guard (1...longestName).contains(name.count), TabChange.isText(name, upTo: 4 * longestName),
      !name.contains(where: \.isNewline)
    else { return nil }
    return name
  }
}
