package import ArchiveCodec
package import RestorationFoundation
internal import RestorationLibc
internal import Synchronization

/// A stored tree, and what has to be known of it to leave out a part.
package protocol LaunchedTree: Sendable {
  /// Reads the tree of an archive; an error of the content passes the archive over.
  init(_ archive: Archive) throws(ArchiveError)

  /// How many elements have none above them; each window is one.
  var rootCount: Int { get }

  /// Whether the element is in the tree.
  func contains(element id: UInt64) -> Bool

  /// The element above an element; nil for a root, and for one that is not there.
  func element(above id: UInt64) -> UInt64?
}

/// The record of restores that began and did not end, which launches leave behind beside the state.
///
/// The record is sealed as the state is, so that nobody without the key can say that a restore has
/// crashed, or what is left out.
///
/// An element is left out whatever state it has by now, as long as the version of the app runs that
/// crashed: another version may have mended the crash. One at a time is tried again, after 1, 2, 4,
/// 8 and more launches that left it out; each new crash doubles the wait.
package struct LaunchRecord: Hashable, Sendable {
  /// The restores in a row that began and did not end, with the one under way.
  package var crashes = 0
  /// The MAC of the version of the state that these restores brought back: an old record says nothing
  /// about another state.
  package var stateMAC: [UInt8]?
  /// The version of the app that began the last restore, and the start of the machine then.
  package var applicationVersion: String?
  package var bootSession: String?
  /// The place where the last restore was; nil if no note says so.
  package var note: LaunchNote?
  /// Makes the tags of notes and of values.
  package let tag: NumberTag
  package var rest = Rest()

  /// What most launches do not have, so that only the others take the half of a millisecond in which a type is
  /// coded as a whole for the first time (benchmark: launch of a process).
  package struct Rest: Hashable, Codable, Sendable {
    /// Whether the restored state stands in for a newer state that crashed.
    var gaveWay = false
    /// Whether the state was put back, so that its age does not count.
    var isPutBack = false
    var seenOld: SeenOld?
    fileprivate var blamed: [Blame] = []
    /// What the launch under way tries again of that; nil if that is nothing.
    package fileprivate(set) var tried: LaunchSubject?
  }

  /// What launches have crashed in.
  fileprivate struct Blame: Hashable, Codable {
    let subject: LaunchSubject
    /// The launches in a row that crashed in it after their restore, while it was not left out.
    var crashes = 0
    /// How many launches leave it out before it is tried again; 0 if it is not left out.
    var wait = 0
    /// How many of these launches are still to come.
    var launchesLeft = 0

    /// Leaves it out, twice as long as before.
    mutating func leaveOut() {
      wait = wait == 0 ? 1 : min(max(1, wait), LaunchRecord.longestWait / 2) * 2
      launchesLeft = wait
    }
  }

  /// An app that is started so often has crashed 20 times in one element.
  private static let longestWait = 1 << 20
  /// As many as the record of a launch has room for, and more than any app leaves out.
  private static let largestCount = 64

  package init(_ tag: NumberTag = NumberTag()) { self.tag = tag }

  /// All that is left out, with what is tried again.
  package var leftOut: [LaunchSubject] { rest.blamed.filter { $0.wait > 0 }.map(\.subject) }

  /// Whether a crash has ended the launch before, which was one of this version of the app.
  private func isCrash(in environment: ApplicationEnvironment) -> Bool {
    let hasRestarted =
      bootSession != nil && environment.bootSession != nil && bootSession != environment.bootSession
    return applicationVersion == environment.applicationVersion && crashes > 0
      && note?.stage != .ended && !hasRestarted
  }

  private mutating func blame(_ subject: LaunchSubject, _ change: (inout Blame) -> Void) {
    let known = rest.blamed.firstIndex { $0.subject == subject }
    if known == nil {
      rest.blamed.append(Blame(subject: subject))
      rest.blamed.removeFirst(max(0, rest.blamed.count - Self.largestCount))
    }
    change(&rest.blamed[known ?? rest.blamed.endIndex - 1])
  }

  /// Takes what a launch leaves behind whose restore had ended.
  ///
  /// What it tried again is restored from now on. A crash after the restore counts against its element
  /// or value alone, which is left out after too many in a row.
  package mutating func endRestore(threshold: Int, in environment: ApplicationEnvironment) {
    let subject = isCrash(in: environment) ? note?.subject : nil
    (crashes, rest.gaveWay, rest.isPutBack) = (0, false, false)
    rest.blamed.removeAll {
      $0.subject != subject && ($0.subject == rest.tried || $0.wait == 0 && subject == nil)
    }
    for place in rest.blamed.indices {
      rest.blamed[place].launchesLeft = max(1, rest.blamed[place].launchesLeft) - 1
    }
    let hasTrialFailed = rest.tried != nil && rest.tried == subject
    rest.tried = nil
    guard let subject else { return }
    blame(subject) { blame in
      blame.crashes = min(max(0, blame.crashes), .max - 1) + 1
      let isOver = blame.wait == 0 && blame.crashes >= max(1, threshold)
      if hasTrialFailed || isOver { blame.leaveOut() }
    }
  }

  /// Decides in the first restore of a launch whether a state is restored, and what is left out: what
  /// crashed, then what is above all that is left out, then the root that it is below.
  ///
  /// A missing note may be one that somebody has written over. So without a note a launch gives up
  /// nothing until there are as many crashes as leaving out could have answered. Another version of
  /// the app may have mended the crash. Something is tried again where no other crash is near, for which
  /// its own could be taken.
  ///
  /// - Parameters:
  ///   - version: The version of the state.
  ///   - tree: The state.
  ///   - threshold: How many crashes in a row are answered; less than 1 is as 1.
  ///   - environment: The facts about this launch.
  /// - Returns: Whether the state is restored; false if it gives way to an older one.
  package mutating func take(
    _ version: ArchiveVersion, _ tree: any LaunchedTree, threshold: Int,
    in environment: ApplicationEnvironment
  ) -> Bool {
    let isOfApplication = applicationVersion == environment.applicationVersion
    let isOfState = isOfApplication && stateMAC == version.mac
    let isCrash = isCrash(in: environment)
    let hasTrialFailed = rest.tried != nil && isCrash
    if hasTrialFailed, let tried = rest.tried { blame(tried) { $0.leaveOut() } }
    rest.tried = nil
    if !isOfApplication { rest.blamed = [] }
    rest.blamed.removeAll { $0.subject.element.map { !tree.contains(element: $0) } ?? false }
    // What was tried again is to blame for the last crash.
    guard isOfState, isCrash, !hasTrialFailed else {
      crashes = isOfState ? max(1, crashes) - 1 : 0
      if crashes == 0, !hasTrialFailed { rest.tried = due(in: tree) }
      return true
    }
    let answered = crashes - max(1, threshold)
    guard answered >= 0 else { return true }
    guard let note else { return answered < 2 }
    let left = note.subject.map { parts(of: tree, around: $0, answered) } ?? []
    for part in left where !leftOut.contains(part) { blame(part) { $0.leaveOut() } }
    return !left.isEmpty
  }

  /// What is left out after a crash, if as many were answered; empty if nothing but the whole state is
  /// left.
  private func parts(
    of tree: any LaunchedTree, around subject: LaunchSubject, _ answered: Int
  ) -> [LaunchSubject] {
    guard subject.element.map(tree.contains) ?? true else { return [] }
    switch answered {
    case 0: return [subject]
    case 1:
      // The restore crashed without what was left out, too, so what is above it goes.
      let known = leftOut.compactMap(\.element).filter(tree.contains)
      let above = known.compactMap(tree.element(above:)).map(LaunchSubject.init(element:))
      let isWhole = above.count < known.count || known.isEmpty && subject.element != nil
      return isWhole ? [] : [subject] + above
    default:
      guard var root = subject.element, tree.rootCount > 1 else { return [] }
      while let above = tree.element(above: root) { root = above }
      let part = LaunchSubject(element: root)
      return leftOut.contains(part) ? [] : [part]
    }
  }

  /// What may be tried again: what is below another one could not be restored.
  private func due(in tree: any LaunchedTree) -> LaunchSubject? {
    let all = Set(leftOut)
    func isBelowOther(_ id: UInt64) -> Bool {
      sequence(first: id, next: tree.element(above:)).dropFirst()
        .contains { all.contains(LaunchSubject(element: $0)) }
    }
    return rest.blamed.first { blame in
      blame.wait > 0 && blame.launchesLeft <= 0
        && !(blame.subject.element.map(isBelowOther) ?? false)
    }?.subject
  }

  /// Begins a restore of a state.
  package mutating func begin(_ version: ArchiveVersion, in environment: ApplicationEnvironment) {
    crashes = min(max(0, crashes), .max - 1) + 1
    // Somebody uses the state, so nobody has seen that it is old.
    (stateMAC, rest.seenOld) = (version.mac, nil)
    (applicationVersion, bootSession) = (environment.applicationVersion, environment.bootSession)
  }

  /// Lets the next restores try everything again, one at a time.
  package mutating func retry() {
    for place in rest.blamed.indices { rest.blamed[place].launchesLeft = 0 }
  }
}

extension LaunchRecord {
  package func sealed(_ key: ArchiveKey, _ context: ArchiveContext) throws(ArchiveError) -> [UInt8]
  {
    do {
      return try SealedRecord.seal(key: key, context: context) { encoder in
        encoder.encode(crashes, forKey: "crashes")
        encoder.encode(stateMAC, forKey: "mac")
        encoder.encode(applicationVersion, forKey: "application")
        encoder.encode(bootSession, forKey: "boot")
        encoder.encode(tag.key, forKey: "tag")
        if rest != Rest() { try encoder.encode(rest, forKey: "rest") }
      }
    } catch {
      throw .content(error)
    }
  }

  /// Opens a record, with the note behind it.
  ///
  /// - Returns: Nil for bytes that are no record: damage must not stop a restore, and anybody who
  ///   can damage the record could remove it as well.
  /// - Throws: `cryptographyUnavailable`.
  package static func open(
    _ bytes: [UInt8], _ key: ArchiveKey, _ context: ArchiveContext
  ) throws(ArchiveError) -> LaunchRecord? {
    do {
      let values = try SealedRecord.open(bytes, key: key, context: context).values
      guard let tag = NumberTag(key: try values.decode(forKey: "tag")) else { return nil }
      var record = LaunchRecord(tag)
      record.note = LaunchNote(endOf: bytes, tag)
      record.crashes = try values.decode(forKey: "crashes")
      record.stateMAC = try values.decodeIfPresent(forKey: "mac")
      record.applicationVersion = try values.decodeIfPresent(forKey: "application")
      record.bootSession = try values.decodeIfPresent(forKey: "boot")
      record.rest = try values.decodeIfPresent(forKey: "rest") ?? Rest()
      return record
    } catch {
      let error = ArchiveError.content(error)
      guard error.isAboutContent else { throw error }
      return nil
    }
  }
}

/// How a launch has seen a state that was too old.
package struct SeenOld: Hashable, Codable, Sendable {
  /// When the state was saved, by its own clock.
  package var savedAt: Date
  /// The start of the machine, and how long it had run then, in seconds.
  package var bootSession: String?
  package var uptime: Double

  package init(savedAt: Date, in environment: ApplicationEnvironment) {
    (self.savedAt, bootSession) = (savedAt, environment.bootSession)
    uptime = environment.uptime ?? BootSession.uptime
  }

  /// Whether an earlier launch has seen the same, and both cannot have had one wrong clock.
  package func confirms(_ before: SeenOld?) -> Bool {
    guard let before, before.savedAt == savedAt else { return false }
    let passed = uptime - before.uptime
    return before.bootSession != bootSession || passed < 0 || passed >= 24 * 60 * 60
  }
}

/// The mark of the launch under way: a crash leaves it behind.
///
/// A mark that cannot be written says what is left out all the same.
///
/// The mark is written in place and waits for no disk, since a crash of the app leaves what was
/// written. It may be called on any thread.
package final class LaunchMark: Sendable {
  /// What is made or decoded now, and when it has begun, in milliseconds.
  private typealias Reached = (subject: LaunchSubject, since: Int)

  private struct State {
    var stage = LaunchNote.Stage.restoring
    var element: Reached?
    /// The values, the last of which has begun last; most are read by the element.
    var values: [Reached] = []
    /// Nil when the state is not this launch's any more.
    var place: (any LaunchPlace)?

    var subject: LaunchSubject? { (values.last ?? element)?.subject }
  }

  /// Whether elements are noted: a launch before has crashed.
  package let isNear: Bool
  private let tag: NumberTag
  private let leftOut: Set<LaunchSubject>
  private let state: Mutex<State>

  /// Begins the mark of a restore that is noted in a place, if it is.
  init(_ record: LaunchRecord, at place: (any LaunchPlace)?, threshold: Int) {
    state = Mutex(State(place: place))
    // Without a place, what crashes again would crash in every launch, so it is not tried.
    leftOut = Set(record.leftOut.filter { place == nil || $0 != record.rest.tried })
    (tag, isNear) = (record.tag, record.crashes >= max(1, threshold))
    Self.open.withLock { open in
      open.removeAll { $0() == nil }
      open.append { [weak self] in self }
    }
  }

  package var leavesAnyOut: Bool { !leftOut.isEmpty }

  /// Whether restores leave out an element or a value.
  package func isLeftOut(_ subject: LaunchSubject) -> Bool { leftOut.contains(subject) }

  /// The name of a value in notes.
  package func subject(ofValue key: String) -> LaunchSubject {
    LaunchSubject(valueTag: tag.tag(of: "value \(key)"))
  }

  /// Says which element is made or decoded now, a window among them; nil outside of all.
  ///
  /// The launch after a crash is told if a launch before has crashed, and of all late elements.
  package func reach(_ subject: LaunchSubject?) {
    change(writing: isNear) { $0.element = subject.map { ($0, Self.now) } }
  }

  /// Says which value is decoded while the body runs.
  package func reach<Result>(valueOf key: String, _ body: () throws -> Result) rethrows -> Result {
    let subject = subject(ofValue: key)
    change { $0.values.append((subject, Self.now)) }
    defer {
      change { state in
        // Other values may have begun on other threads.
        let place = state.values.lastIndex { $0.subject == subject }
        if let place { state.values.remove(at: place) }
      }
    }
    return try body()
  }

  /// The milliseconds of a clock that nobody can set, and that is cheap enough for each element.
  package static var now: Int {
    #if canImport(Darwin)
    let clock = CLOCK_MONOTONIC_RAW_APPROX
    #else
    let clock = CLOCK_MONOTONIC_COARSE
    #endif
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
  }

  /// Says that the restore has ended, and only values and late elements may still be decoded.
  package func endRestore() { change { ($0.stage, $0.element) = (.restored, nil) } }

  /// Says that the app ends now; what is made or decoded after that takes it back.
  func close() {
    state.withLock { state in
      state.stage = .closed
      put(state)
    }
  }

  /// Says that no crash has ended the launch.
  package func end() {
    // The thread that ends the process may have the lock.
    state.withLockIfAvailable { state in
      guard state.stage == .restoring || state.subject != nil else { return }
      if state.stage == .restoring { state.stage = .ended }
      (state.element, state.values) = (nil, [])
      put(state)
    }
  }

  /// Writes nothing any more: the state is not this launch's.
  func letGo() { state.withLock { $0.place = nil } }

  /// Changes the note, and writes it; after the restore in any case.
  private func change(writing isWritten: Bool = true, _ change: (inout State) -> Void) {
    state.withLock { state in
      if state.stage == .closed { state.stage = .restored }
      change(&state)
      if isWritten || state.stage == .restored { put(state) }
    }
  }

  /// A note that cannot be written stops nothing: the next launch may count a crash that was none.
  private func put(_ state: State) {
    try? state.place?.write(note: LaunchNote(state.stage, state.subject).bytes(tag))
  }

  // MARK: The end of the process

  private static let process = SystemCall.processIdentifier

  /// The marks that are open.
  ///
  /// An app that ends by itself in the midst of a restore has not crashed, so its exit is noted.
  private static let open: Mutex<[@Sendable () -> LaunchMark?]> = {
    _ = process
    atexit {
      // The end of a fork of the process is not that of the restore.
      if LaunchMark.process == SystemCall.processIdentifier { LaunchMark.noteExit() }
    }
    return Mutex([])
  }()

  /// Notes the end of the process in all marks that are open.
  package static func noteExit() { forEachOpen { $0.end() } }

  private static func forEachOpen(_ body: (LaunchMark) -> Void) {
    // The thread that ends the process may have the lock.
    open.withLockIfAvailable { $0.compactMap { mark in mark() }.forEach(body) }
  }

  /// The milliseconds after which a user may end the process because of an element that hangs.
  private static let longestTime = 5000

  /// Notes that a signal ends the process, which is no crash unless something hangs: a user who ends
  /// such an app starts it again, and it must start one day.
  ///
  /// - Returns: What hangs; nil if nothing does.
  package func noteSignal(at now: Int = LaunchMark.now) -> LaunchSubject? {
    let hanging = state.withLockIfAvailable { state in
      ([state.element].compactMap(\.self) + state.values)
        .last { now - $0.since > Self.longestTime }?.subject
    }.flatMap(\.self)
    if hanging == nil { end() }
    return hanging
  }

  /// Notes in all marks that are open that a signal ends the process.
  static func noteSignal() { forEachOpen { _ = $0.noteSignal() } }
}
