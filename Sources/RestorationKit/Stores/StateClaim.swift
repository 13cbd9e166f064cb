package import ArchiveCodec
internal import Synchronization

/// What happens when another instance of the app has the state already.
public enum InstancePolicy: Hashable, Sendable {
  /// The later instance has a state of its own, with the first free number: `main~2`,
  /// `main~3` and so on.
  ///
  /// So two terminals of one app both have their state back, in the order in which they
  /// are launched. A state with a number that no instance has saved for 30 days goes
  /// when another instance is launched. A user who later runs one instance does not see
  /// what was done in a second one: tell users with ``StateKeeper/otherInstances``. A
  /// second keeper of the name in the same process is treated alike, which is a problem
  /// of its reports: ``ReportNote/otherKeeper(stateName:)``.
  case numbered

  /// While another instance has the state, this one restores nothing and saves nothing,
  /// and its reports name the other instance.
  ///
  /// Use the policy for apps that run as one instance. A restore or save waits up to a
  /// second for an instance that is about to end. When the other instance has ended,
  /// the next save takes the state, and sets aside the stored one, which this instance
  /// has not read: quit, or restore again before you save.
  case single
}

/// An instance of the app that has a state, in this process or in another one.
public struct OtherInstance: Hashable, Sendable {
  /// The name of the state that the instance has.
  public let stateName: String

  /// The process of the instance, for a person to read, as in `process 4711, Catalog`;
  /// nil if it is not known.
  public let process: String?
}

extension OtherInstance: CustomStringConvertible {
  /// The instance and the name of its state.
  public var description: String { "\(process ?? "another instance") has \(stateName)" }
}

extension [OtherInstance] {
  /// Tells a person where data that is missing in this state may be; empty without
  /// other instances.
  func sentence(_ stateName: String?) -> String {
    guard !isEmpty else { return "" }
    let held = map(\.description).joined(separator: ", ")
    return " The state is \(stateName ?? "another"), since \(held)."
  }
}

/// The right of one keeper, or of one host with all its scenes, to a state.
///
/// The first restore or save takes the claim, and one lock stands for it: the lock of
/// the storage of the state. All writers of the state and of its scenes get this lock,
/// so an app with many windows has one file open. The lock goes when the claim is let
/// go, when nobody has the claim any more, and with the process.
package final class StateClaim: Sendable {
  package struct Taken: Sendable {
    /// The name of the state: the name that was asked for, with a number if others have it.
    package let name: String
    package let lock: any ArchiveLock
    /// The instances that have the states with the lower numbers.
    let others: [OtherInstance]
  }

  private struct Claiming {
    var policy = InstancePolicy.numbered
    var taken: Taken?
    /// The name that was taken last.
    ///
    /// A later claim takes that name again: an instance never goes on under
    /// the name of another one.
    var lastName: String?
    /// Whether a wait for the holder of the state was in vain; later claims do not wait again.
    var hasWaited = false
    /// The number of restores and saves under way.
    var useCount = 0
    var waiting: [WaitingCall] = []
  }

  /// The name that was asked for.
  package let name: String
  private let directory: any StateDirectory
  private let claiming = Mutex(Claiming())
  /// Held while the directory is asked, which may take long; the other lock is never held that long.
  private let taking = Mutex<Void>(())

  package init(directory: any StateDirectory, name: String) {
    self.directory = directory
    self.name = name
  }

  var policy: InstancePolicy {
    get { claiming.withLock { $0.policy } }
    set { claiming.withLock { $0.policy = newValue } }
  }

  /// The state that is taken; nil if none is.
  package var taken: Taken? { claiming.withLock { $0.taken } }

  /// The name of the state that another keeper of this process has.
  ///
  /// Nil if another process has it. Because of that keeper this one has a state with a
  /// number, or, if a holder is given, none.
  func nameOfOtherKeeper(inUseBy holder: String? = nil) -> String? {
    if holder == ArchiveError.thisProcess { return name }
    return taken?.others.first { $0.process == ArchiveError.thisProcess }?.stateName
  }

  // MARK: Taking

  /// More instances than anybody runs; beyond that all states count as in use.
  private static let largestNumber = 1000

  /// Follows the name of a state in the name of its crash marker.
  static let launchSuffix = ".launch"

  /// Follows the name of a state in the name of the note on its copy in a store.
  package static let copySuffix = ".remote"

  /// Follows the name of a state in the names of its set-aside states in a store.
  package static let asideMark = ".aside."

  /// Follows the name of a state in the names of its scenes.
  static let sceneSuffix = ".scene"

  /// Follows the name of the app's state in the name of a scene's state.
  static func sceneSuffix(of identifier: String) -> String { "\(sceneSuffix)-\(identifier)" }

  /// Stands between a name and its number.
  package static let numberMark: Character = "~"

  /// Whether a name could be that of another state with a number.
  static func isNumbered(_ name: String) -> Bool {
    let end = name.utf8.reversed().prefix { (0x30...0x39).contains($0) }.count
    return end > 0 && name.utf8.dropLast(end).last == numberMark.asciiValue
  }

  /// Whether a name is that of a file beside a state, and not of a state.
  static func isBesideState(_ name: String) -> Bool {
    name.hasSuffix(launchSuffix) || name.hasSuffix(copySuffix)
      || name.containsBytes(of: asideMark)
  }

  /// Whether a file can have the name: one that comes from outside could lead elsewhere.
  package static func canNameFile(_ name: String) -> Bool {
    !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 < 0x20 }
  }

  private static func numbered(_ name: String, _ number: Int) -> String {
    number == 1 ? name : "\(name)\(numberMark)\(number)"
  }

  /// Takes the state, or returns the one that is taken already.
  ///
  /// The holder may be about to go: an app that is being relaunched, or a tool that
  /// changes a slot. So the first call waits a little for the lock.
  ///
  /// - Returns: The state with its lock.
  /// - Throws: `ArchiveError` with `locked` and the other instance as its subject
  ///   if the state is in use; else as ``ArchiveStorage/lock()``.
  func take() async throws(ArchiveError) -> Taken {
    let deadline = ContinuousClock.now + (policy == .single ? .seconds(1) : .milliseconds(100))
    var tries = 0
    // An instance that had a number does not want the first state, so it does not wait for that.
    while !claiming.withLock({ $0.hasWaited || ($0.lastName ?? name) != name }) {
      do throws(ArchiveError) {
        return try take(numbers: 1)
      } catch {
        guard error.code == .locked else { throw error }
        tries += 1
        // On a busy machine the time may be over after the first try, so a few tries
        // are made anyway.
        let goesOn = tries < Self.fewestTries || ContinuousClock.now < deadline
        guard goesOn, await Self.pause() else { break }
      }
    }
    claiming.withLock { $0.hasWaited = true }
    return try take(numbers: policy == .single ? 1 : Self.largestNumber)
  }

  /// Takes the state without a number, whatever the policy is.
  func takeFirst() throws(ArchiveError) -> Taken { try take(numbers: 1) }

  private func take(numbers count: Int) throws(ArchiveError) -> Taken {
    let result: Result<Taken, ArchiveError> = taking.withLock { _ in
      do throws(ArchiveError) {
        // Without its file the lock keeps nobody out any more, so the state is locked anew.
        if let taken, try taken.lock.isHeld() { return .success(taken) }
        claiming.withLock { $0.taken = nil }
        let taken: Taken
        if let again = try lockAgain(numbers: count) {
          taken = again
        } else {
          taken = try lock(numbers: count)
        }
        claiming.withLock { claiming in
          claiming.taken = taken
          claiming.lastName = taken.name
        }
        return .success(taken)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Locks the numbered state that was taken last; nil if there is none, or if it is in use.
  private func lockAgain(numbers count: Int) throws(ArchiveError) -> Taken? {
    guard count > 1, let last = claiming.withLock({ $0.lastName }), last != name else { return nil }
    do throws(ArchiveError) {
      let lock = try directory.storage(named: last).lock()
      return Taken(name: last, lock: lock, others: [])
    } catch {
      guard error.code == .locked else { throw error }
      return nil
    }
  }

  private func lock(numbers count: Int) throws(ArchiveError) -> Taken {
    var others: [OtherInstance] = []
    var number = 1
    while true {
      let candidate = Self.numbered(name, number)
      do throws(ArchiveError) {
        let lock = try directory.storage(named: candidate).lock()
        return Taken(name: candidate, lock: lock, others: others)
      } catch {
        guard error.code == .locked else { throw error }
        others.append(OtherInstance(stateName: candidate, process: error.subject))
        guard number < count else { throw error }
        number += 1
      }
    }
  }

  private static let fewestTries = 4

  /// Waits as long as a write takes, a few milliseconds; false if the task is cancelled.
  private static func pause() async -> Bool {
    do {
      try await Task.sleep(for: .milliseconds(5))
      return true
    } catch {
      return false
    }
  }

  // MARK: Looking

  /// The name under which a state is looked at: the name that is taken, or else the
  /// name that was asked for, also while another instance has it.
  var lookedAt: String { taken?.name ?? name }

  /// The name that ``take()`` would take now.
  func free() throws(ArchiveError) -> String {
    if let taken { return taken.name }
    guard policy == .numbered else { return name }
    for number in 1...Self.largestNumber {
      let candidate = Self.numbered(name, number)
      if try !directory.storage(named: candidate).isLocked() { return candidate }
    }
    return name
  }

  // MARK: Letting go

  /// Begins a restore or a save; until its end ``isUnused()`` waits.
  func beginUse() { claiming.withLock { $0.useCount += 1 } }

  func endUse() {
    let waiting = claiming.withLock { claiming -> [WaitingCall] in
      claiming.useCount -= 1
      guard claiming.useCount == 0 else { return [] }
      defer { claiming.waiting = [] }
      return claiming.waiting
    }
    for call in waiting { call.resume() }
  }

  /// Waits until no restore or save is under way.
  func isUnused() async {
    while claiming.withLock({ $0.useCount > 0 }) {
      await withCheckedContinuation { continuation in
        let isUnused = claiming.withLock { claiming in
          if claiming.useCount > 0 { claiming.waiting.append(WaitingCall(continuation)) }
          return claiming.useCount == 0
        }
        if isUnused { continuation.resume() }
      }
    }
  }

  /// Lets other instances take the state from now on.
  func letGo() {
    let taken = claiming.withLock { claiming in
      claiming.hasWaited = false
      return claiming.taken.take()
    }
    _ = consume taken
  }
}
