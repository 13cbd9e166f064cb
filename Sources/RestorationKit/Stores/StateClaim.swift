internal import ArchiveCodec
internal import Synchronization

/// What happens when another instance of the app has the state already.
public enum InstancePolicy: Hashable, Sendable {
  /// It has a state of its own, with the first free number: `main~2`, `main~3`
  /// and so on.
  ///
  /// So two terminals of one app both have their state back, in the order in
  /// which they are launched. A state with a number that no instance has saved
  /// for 30 days goes when another one is launched. A user who later runs one
  /// instance does not see what was done in a second one: tell users with
  /// ``StateKeeper/otherInstances``. A second keeper of the name in the same process is
  /// treated alike, which is a problem of its reports: ``ReportNote/otherKeeper(stateName:)``.
  case numbered

  /// While the other one has the state, this one restores nothing and saves
  /// nothing, and its reports name the other one.
  ///
  /// Use it for apps that run as one instance. A restore or save waits up to a second
  /// for an instance that is about to end. When the other one has ended, the next save
  /// takes the state, and sets aside the stored one, which was not read here: quit, or
  /// restore again before you save.
  case single
}

/// An instance of the app that has a state, in this process or in another one.
public struct OtherInstance: Hashable, Codable, Sendable {
  /// The name of the state that it has.
  public let stateName: String

  /// Its process, for a person to read, as in `process 4711, Catalog`; nil if
  /// that is not known.
  public let process: String?
}

extension OtherInstance: CustomStringConvertible {
  /// Who has which state.
  public var description: String { "\(process ?? "another instance") has \(stateName)" }
}

extension [OtherInstance] {
  /// Where a person finds what is not in this state; empty if there are no others.
  func sentence(_ stateName: String?) -> String {
    guard !isEmpty else { return "" }
    let held = map(\.description).joined(separator: ", ")
    return " The state is \(stateName ?? "another"), since \(held)."
  }
}

/// The right of one keeper, or of one host with all its scenes, to a state.
///
/// It is taken with the first restore or save, and one lock stands for it: that
/// of the storage of the state. All writers of the state and of its scenes get
/// this lock, so an app with many windows has one file open. The lock goes when
/// the claim is let go, when nobody has the claim any more, and with the process.
package final class StateClaim: Sendable {
  struct Taken: Sendable {
    /// The name of the state: the one that was asked for, or that with a number.
    let name: String
    let lock: any ArchiveLock
    /// Those who have the states before it.
    let others: [OtherInstance]
  }

  private struct Content {
    var policy = InstancePolicy.numbered
    var taken: Taken?
    /// What was taken last: nobody goes on under the name of another instance.
    var lastName: String?
    /// Whether it was in vain to wait for the one who has the state.
    var hasWaited = false
    /// Restores and saves under way.
    var useCount = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  /// The name that was asked for.
  package let name: String
  private let directory: any StateDirectory
  private let content = Mutex(Content())
  /// Held while the directory is asked, which may take long.
  private let taking = Mutex<Void>(())

  package init(directory: any StateDirectory, name: String) {
    self.directory = directory
    self.name = name
  }

  var policy: InstancePolicy {
    get { content.withLock { $0.policy } }
    set { content.withLock { $0.policy = newValue } }
  }

  /// What is taken, nil if nothing is.
  var taken: Taken? { content.withLock { $0.taken } }

  /// The name of the state that another keeper of this process has, so that this one has
  /// another, or none if it is said who has it; nil if that is another process.
  func nameOfOtherKeeper(inUseBy holder: String? = nil) -> String? {
    if holder == ArchiveError.thisProcess { return name }
    return taken?.others.first { $0.process == ArchiveError.thisProcess }?.stateName
  }

  // MARK: Taking

  /// More instances than anybody has; after that all is taken for in use.
  private static let largestNumber = 1000

  /// What follows the name of a state in the name of its mark of launches.
  static let launchSuffix = ".launch"

  /// What follows the name of a state in the name of the subkeys of its secrets.
  static let secretsSuffix = ".secrets"

  /// What follows the name of a state in the name of what is known of it in a store.
  static let remoteSuffix = ".remote"

  /// What follows the name of a state in the names of what a store has that was set aside.
  static let asideMark = ".aside."

  /// What follows the name of a state in the names of its scenes.
  static let sceneSuffix = ".scene"

  /// What follows the name of the app's state in the name of a scene's.
  static func sceneSuffix(of identifier: String) -> String { "\(sceneSuffix)-\(identifier)" }

  /// Between a name and its number.
  static let numberMark: Character = "~"

  /// Whether a name could be that of another state with its number.
  static func isNumbered(_ name: String) -> Bool {
    guard let mark = name.lastIndex(of: numberMark) else { return false }
    let number = name[name.index(after: mark)...]
    return !number.isEmpty && number.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// Whether a name is that of something beside a state, and not of one.
  static func isBesideState(_ name: String) -> Bool {
    name.hasSuffix(launchSuffix) || name.hasSuffix(secretsSuffix) || name.hasSuffix(remoteSuffix)
      || name.contains(asideMark)
  }

  /// Whether a name can be that of a file: one that comes from outside could lead elsewhere.
  static func canNameFile(_ name: String) -> Bool {
    !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 < 0x20 }
  }

  private static func numbered(_ name: String, _ number: Int) -> String {
    number == 1 ? name : "\(name)\(numberMark)\(number)"
  }

  /// Takes the state, or says what is taken already.
  ///
  /// Whoever has it may be about to go: an app that is launched anew by the one
  /// that ends, or a tool that changes a slot. So it waits a little, once.
  ///
  /// - Returns: The state with its lock.
  /// - Throws: `ArchiveError` with `locked` and the other instance as its subject
  ///   if the state is in use; else as ``ArchiveStorage/lock()``.
  func take() async throws(ArchiveError) -> Taken {
    let deadline = ContinuousClock.now + (policy == .single ? .seconds(1) : .milliseconds(100))
    var tries = 0
    // Who had a number does not want the first one.
    while !content.withLock({ $0.hasWaited || ($0.lastName ?? name) != name }) {
      do throws(ArchiveError) {
        return try take(numbers: 1)
      } catch {
        guard error.code == .locked else { throw error }
        tries += 1
        // On a busy machine the time may be over after the first one.
        let goesOn = tries < Self.fewestTries || ContinuousClock.now < deadline
        guard goesOn, await Self.pause() else { break }
      }
    }
    content.withLock { $0.hasWaited = true }
    return try take(numbers: policy == .single ? 1 : Self.largestNumber)
  }

  /// Takes the state that was asked for, whatever the policy is.
  func takeFirst() throws(ArchiveError) -> Taken { try take(numbers: 1) }

  private func take(numbers count: Int) throws(ArchiveError) -> Taken {
    let result: Result<Taken, ArchiveError> = taking.withLock { _ in
      do throws(ArchiveError) {
        // Without its file the lock keeps nobody out any more.
        if let taken, try taken.lock.isHeld() { return .success(taken) }
        content.withLock { $0.taken = nil }
        let taken: Taken
        if let again = try lockAgain(numbers: count) {
          taken = again
        } else {
          taken = try lock(numbers: count)
        }
        content.withLock { content in
          content.taken = taken
          content.lastName = taken.name
        }
        return .success(taken)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// What was taken before, if it is free; nil if it was the first one.
  private func lockAgain(numbers count: Int) throws(ArchiveError) -> Taken? {
    guard count > 1, let last = content.withLock({ $0.lastName }), last != name else { return nil }
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

  /// A write takes a few milliseconds; false if nobody waits any more.
  private static func pause() async -> Bool {
    do {
      try await Task.sleep(for: .milliseconds(5))
      return true
    } catch {
      return false
    }
  }

  // MARK: Looking

  /// The name under which a state is looked at: the one that is taken, or else
  /// the one that was asked for, whoever has it.
  var lookedAt: String { taken?.name ?? name }

  /// The name that would be taken now.
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

  /// A restore or a save begins; until its end nobody lets go.
  func beginUse() { content.withLock { $0.useCount += 1 } }

  func endUse() {
    let waiting = content.withLock { content -> [CheckedContinuation<Void, Never>] in
      content.useCount -= 1
      guard content.useCount == 0 else { return [] }
      defer { content.waiting = [] }
      return content.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Waits until no restore or save is under way.
  func isUnused() async {
    while content.withLock({ $0.useCount > 0 }) {
      await withCheckedContinuation { continuation in
        let isUnused = content.withLock { content in
          if content.useCount > 0 { content.waiting.append(continuation) }
          return content.useCount == 0
        }
        if isUnused { continuation.resume() }
      }
    }
  }

  /// Others may have the state from now on.
  func letGo() {
    let taken = content.withLock { content in
      content.hasWaited = false
      return content.taken.take()
    }
    _ = consume taken
  }
}
