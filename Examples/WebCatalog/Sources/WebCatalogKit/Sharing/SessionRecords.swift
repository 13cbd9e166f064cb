import Foundation
import RestorationKit

/// What operators may know of a session: nothing of its content.
struct SessionFacts: Codable, Hashable, Sendable {
  /// When the tab was made, maybe days ago at another server.
  var begun = Date()
  var saved: Date?
  var byteCount = 0
  /// When a save ended last, stored or not.
  var reported: Date?
  var outcome = "not saved yet"

  mutating func note(_ report: PreservationReport) {
    if report.outcome == .saved { (saved, byteCount) = (Date(), report.byteCount) }
    note(report.headline)
  }

  mutating func note(_ outcome: String) {
    (reported, self.outcome) = (Date(), outcome)
  }

  /// Takes what another server knows and this one does not know yet.
  fileprivate mutating func take(_ other: SessionFacts) {
    if (other.saved ?? .distantPast) > (saved ?? .distantPast) {
      (saved, byteCount) = (other.saved, other.byteCount)
    }
    if (other.reported ?? .distantPast) > (reported ?? .distantPast) {
      (reported, outcome) = (other.reported, other.outcome)
    }
  }
}

/// What operators may know of all sessions, which all servers share.
///
/// A record is made before its tab is stored, and removed after it, so each tab has one.
struct SessionRecords: Sendable {
  let entries: Entries

  private static let prefix = "web.session."

  func make(_ facts: SessionFacts, of name: String) async throws {
    _ = try await entries.replace(Self.prefix + name, with: facts, expecting: nil)
  }

  func facts(of name: String) async throws -> SessionFacts? {
    try await entries.load(Self.prefix + name, as: SessionFacts.self)?.value
  }

  /// Notes what is new; a record that somebody has removed stays away.
  func note(_ facts: SessionFacts, of name: String) async throws {
    try await entries.update(Self.prefix + name) { (stored: inout SessionFacts) in
      stored.take(facts)
    }
  }

  func remove(of name: String) async throws {
    try await entries.remove(Self.prefix + name)
  }

  /// Removes all whose tabs have names of a prefix.
  func removeAll(prefix: String) async throws {
    try await entries.removeAll(prefix: Self.prefix + prefix)
  }
}
