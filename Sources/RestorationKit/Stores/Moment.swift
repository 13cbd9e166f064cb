public import RestorationFoundation

/// A state as it was at one time, which stays beside the one that is stored now.
public struct Moment: Hashable, Sendable, Identifiable {
  /// Why a state stays.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// A shorter archive with the same content took its place.
    case replaced
    /// Another version of the app was about to change it.
    case version
    /// A launch had found it, and was about to change it.
    case session
    /// Restores of it crashed.
    case crashed
    /// Nobody had read it when another state was to take its place.
    case unread
    /// Another machine had changed the state as well.
    case conflict
    /// A part of it cannot be read.
    case damaged
    /// An older state was put back in its place.
    case putBack

    /// Whether a restore may take the state by itself, where newer ones cannot be read.
    public var isRestorable: Bool { [.replaced, .version, .session].contains(self) }
  }

  /// A text that no other moment of the state has.
  public let id: String
  /// Why the state stays.
  public let reason: Reason
  /// When the state was kept, by the clock of the app.
  public let date: Date
  /// The bytes of the archive.
  public let byteCount: Int
  /// Whether the bytes are those of the stored archive itself, as far as they go.
  package var isOfMain = false
  /// The name of the state in whose history it was found.
  package var stateName: String?
}

extension Moment {
  // NUMBER-SECONDS-REASON-BYTES: the number keeps the order, also where a clock was set back.
  private init(_ number: UInt64, seconds: Int64, _ reason: Reason, byteCount: Int) {
    // After the last number there is none: a name that is planted stays the last one.
    let digits = String(1_000_000_000 + min(number, 999_999_999)).dropFirst()
    id = "\(digits)-\(seconds)-\(reason.rawValue)-\(byteCount)"
    self.reason = reason
    self.byteCount = byteCount
    date = Date(timeIntervalSince1970: TimeInterval(seconds))
  }

  /// Names a moment that comes after another one.
  package init(_ reason: Reason, at date: Date, after last: Moment?, byteCount: Int) {
    // An app may give any date.
    let seconds = Int64(exactly: date.timeIntervalSince1970.rounded(.down)) ?? 0
    let before = last?.id.split(separator: "-").first.flatMap { UInt64($0) } ?? 0
    self.init(before + 1, seconds: max(0, seconds), reason, byteCount: byteCount)
  }

  /// Nil for any other text: what is found by a name may be removed.
  package init?(id: String) {
    let parts = id.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 4, let number = UInt64(parts[0]), let seconds = Int64(parts[1]),
      let reason = Reason(rawValue: String(parts[2])), let byteCount = Int(parts[3]), byteCount > 0
    else { return nil }
    self.init(number, seconds: seconds, reason, byteCount: byteCount)
    guard self.id == id else { return nil }
  }
}
