package import RestorationFoundation

/// The right of one process to be the only one that has a state, for a time.
///
/// A restore takes the lease, saves and a timer renew it, and ``/RestorationKit/StateKeeper/close()``
/// lets it go. When its process has ended, the lease ends by itself. While it lasts,
/// another process finds the state in use, as one on the same machine would.
///
/// The lease keeps two processes from working on one state. The version of the state
/// keeps them from overwriting each other: a process that takes a state over changes
/// the version, so a save of the earlier owner is in conflict, however late it comes.
/// So clocks that differ by some seconds do no harm.
public struct RemoteLease: Hashable, Sendable {
  /// The owner of the lease, for a person to read; up to 200 bytes are stored.
  public let owner: String

  /// For how long the lease is taken and renewed.
  public let duration: Duration

  /// Whether a restore takes a state over from a process whose lease has not ended.
  public let takesOver: Bool

  /// Creates a lease.
  ///
  /// - Parameters:
  ///   - owner: The owner of the lease, as `server 3`.
  ///   - duration: For how long it is taken; at least a second.
  ///   - takesOver: Whether a restore takes states over, as on a server that a user has
  ///     been sent to.
  public init(owner: String, duration: Duration = .seconds(60), takesOver: Bool = false) {
    self.owner = owner
    self.duration = max(duration, .seconds(1))
    self.takesOver = takesOver
  }
}

/// A lease as a store has it.
package struct StoredLease: Equatable, Sendable {
  let holder: RemoteParcel.ID
  let end: Date
  let owner: String

  private static let largestOwner = 200

  package init(holder: RemoteParcel.ID, end: Date, owner: String) {
    (self.holder, self.end, self.owner) = (holder, end, owner)
  }

  /// A place for a state, with no lease.
  static func place(at now: Date) -> StoredLease {
    StoredLease(holder: .random(), end: now, owner: "")
  }

  /// Reads the bytes of a parcel; nil if they are no lease.
  init?(_ bytes: [UInt8]) {
    var rest = bytes[...]
    guard rest.count >= 24, rest.count <= 24 + Self.largestOwner else { return nil }
    holder = RemoteParcel.ID(high: rest.takeNumber(), low: rest.takeNumber())
    let end: Int64 = rest.takeNumber()
    self.end = Date(timeIntervalSince1970: TimeInterval(end) / 1000)
    // Reports and errors have the owner, and end up in logs and on terminals.
    let words = String(decoding: rest, as: UTF8.self).unicodeScalars.filter {
      $0.properties.generalCategory != .control
    }
    owner = String(String.UnicodeScalarView(words))
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(holder.high)
    bytes.append(holder.low)
    bytes.append(Int64(millisecondsTo: end))
    var owner = owner
    while owner.utf8.count > Self.largestOwner { owner.removeLast() }
    return bytes + owner.utf8
  }

  func parcel(_ id: RemoteParcel.ID) -> RemoteParcel {
    RemoteParcel(id: id, kind: .lease, archive: bytes)
  }
}

extension Int64 {
  /// The milliseconds since 1970, or the nearest number: a clock of an app can give any date.
  init(millisecondsTo date: Date) {
    let milliseconds = (date.timeIntervalSince1970 * 1000).rounded(.towardZero)
    self = Int64(exactly: milliseconds) ?? (milliseconds > 0 ? .max : .min)
  }
}

/// The settings of a directory that takes leases.
struct Leasing: Sendable {
  let lease: RemoteLease
  /// Tells the directory, and with it the process, from all others.
  let holder = RemoteParcel.ID.random()

  var seconds: TimeInterval { lease.duration / .seconds(1) }

  func lease(until end: Date) -> StoredLease {
    StoredLease(holder: holder, end: end, owner: lease.owner)
  }
}
