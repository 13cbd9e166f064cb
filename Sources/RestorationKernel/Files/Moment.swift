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

/// How many moments stay, and for how long.
public struct HistoryBound: Hashable, Sendable {
  /// How many stay of those that a restore may take by itself, by their reasons: by default one that a
  /// shorter archive has replaced, three states of other versions of the app, and no session.
  public var counts: [Moment.Reason: Int] = [.replaced: 1, .version: 3]
  /// How many bytes all these may have together; each counts whole, also where it takes no space.
  public var byteCount = 1 << 28
  /// The age in seconds under which all others stay; the oldest and the two newest of them stay
  /// whatever their age.
  public var age: TimeInterval = 30 * 24 * 3600

  /// Creates the bound that holds if none is set.
  public init() {}

  /// The moments that the bound removes, of all in their order.
  ///
  /// The newest one stays, and the newest one that a restore may take and whose bytes lie
  /// elsewhere than those of the stored archive: damage of one file must not reach all.
  ///
  /// - Parameters:
  ///   - all: All moments, the oldest first.
  ///   - now: The time, by the clock of the app.
  /// - Returns: The moments that go.
  package func excess(of all: [Moment], at now: Date) -> [Moment] {
    let elsewhere = all.last { $0.reason.isRestorable && !$0.isOfMain }?.id
    let others = all.filter { !$0.reason.isRestorable }
    let old = Set(
      others.dropFirst().dropLast(2).filter { now.timeIntervalSince($0.date) >= age }.map(\.id))
    var left = counts.mapValues { max(0, $0) }
    var bytes = max(0, byteCount)
    return all.reversed().filter { moment in
      guard moment.reason.isRestorable else { return old.contains(moment.id) }
      left[moment.reason, default: 0] -= 1
      let isOver = left[moment.reason, default: 0] < 0 || moment.byteCount > bytes
      if !isOver { bytes -= moment.byteCount }
      return isOver && moment.id != elsewhere && moment.id != all.last?.id
    }
  }
}

/// What a keeper stores, keeps, and leaves out.
public struct StatePolicy: Sendable {
  /// How long, and how much, of what nobody has claimed or read stays stored; nil bounds nothing.
  public var keptBound: KeptBound? = KeptBound()

  /// How many older states stay beside the state, and for how long.
  public var historyBound = HistoryBound()

  /// How many nodes, views and objects a save meets at most; with more it throws `tooManyNodes`.
  public var nodeLimit = 1 << 22

  /// A state that is older, in seconds, is not restored; nil restores a state of any age.
  public var maximumAge: TimeInterval?

  /// How many launches in a row must crash while they restore before one leaves something out.
  public var crashThreshold = 2

  /// What becomes of a second instance of the app.
  public var instances = InstancePolicy.numbered

  /// Creates a policy with the values that stand here.
  public init() {}
}
