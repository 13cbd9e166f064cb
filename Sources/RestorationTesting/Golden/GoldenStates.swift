internal import ArchiveCodec
public import RestorationKit

internal import RestorationFoundation

/// One state of each release of an app, in a folder of files that is kept with its tests.
///
/// A release is recorded once, before it is shipped. From then on a test restores all
/// recorded states with the code of today:
///
///     let golden = GoldenStates(folder: folder) {
///       RestorationTester { keeper in try keeper.register(NoteScreen.self, version: 3) }
///     }
///     for state in try await golden.restoreAll({ NoteScreen() }) {
///       #expect(state.root.draft == "Milk")
///     }
///
/// Each release has a folder in that folder, with a file for each of its states, as
/// `1.4/main.rka`. Anybody can open these files, since their key is a part of this
/// library. So record only states that a test has made up, and never the states of users.
///
/// The value belongs to the actor that made it, as the nodes do.
public struct GoldenStates {
  /// The path of the folder.
  public let folder: String

  private let makeTester: () throws -> RestorationTester

  /// Names a folder, which need not exist.
  ///
  /// - Parameters:
  ///   - folder: The path of the folder.
  ///   - makeTester: Makes a tester that prepares keepers and hosts as the app does. Its
  ///     application must always be the same. Its directory and its key do not count.
  public init(folder: String, _ makeTester: @escaping () throws -> RestorationTester) {
    self.folder = folder
    self.makeTester = makeTester
  }

  /// Lists the releases that are recorded.
  ///
  /// - Returns: The names of the releases; numbers in them are in the order of their
  ///   values.
  /// - Throws: An error if the folder cannot be listed. A missing folder is not an
  ///   error.
  public func releases() throws -> [String] {
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { !$0.hasPrefix(".") && isFolder("\(folder)/\($0)") }
      .sorted(by: Self.isOlder)
  }

  // MARK: Recording

  /// Records the state of a tree of nodes, unless the release is recorded already.
  ///
  /// - Parameters:
  ///   - release: The name of the release, as `1.4`.
  ///   - root: The root node, in the state that the user sees.
  /// - Returns: Whether the release was recorded now. A release that was recorded
  ///   before stays as it is.
  /// - Throws: ``/RestorationKit/RestorationError`` if the state cannot be saved;
  ///   ``RestorationTestFailure`` with `notRecorded`, or with `problems` if a report has
  ///   some; or an error if the files cannot be written.
  @discardableResult
  public func record(_ release: String, _ root: any RestorableNode) async throws -> Bool {
    try await record(release) { tester in
      let keeper = try tester.launch()
      _ = try await keeper.restore()
      _ = try await keeper.save([root])
    }
  }

  /// Records the states that an app stores, unless the release is recorded already.
  ///
  /// Use the method for an app with windows, or with several roots.
  ///
  ///     try await golden.record("2.0") { tester in
  ///       let host = try await tester.launchHost()
  ///       try await host.background(try await host.open())
  ///     }
  ///
  /// - Parameters:
  ///   - release: The name of the release.
  ///   - store: Launches the app with the tester and saves. The process is ended
  ///     afterwards.
  /// - Returns: Whether the release was recorded now.
  /// - Throws: The errors of `store`; ``RestorationTestFailure`` with `notRecorded` if
  ///   `store` has stored nothing, or if the name cannot be that of a folder; or an
  ///   error if the files cannot be written.
  @discardableResult
  public func record(
    _ release: String, storing store: (RestorationTester) async throws -> Void
  ) async throws -> Bool {
    guard !release.isEmpty, !release.hasPrefix("."), !release.contains("/") else {
      throw RestorationTestFailure(
        .notRecorded, "“\(release)”", expected: "The name of a release is that of a folder.",
        seen: "It is empty, begins with “.”, or contains “/”.")
    }
    guard try !releases().contains(release) else { return false }
    let directory = MemoryStateDirectory()
    let tester = try tester(over: directory)
    try await store(tester)
    tester.kill()
    try tester.failForProblems(release)
    let names = try directory.names().filter { !$0.hasSuffix(".launch") }
    guard !names.isEmpty else {
      throw RestorationTestFailure(
        .notRecorded, release, expected: "There is a state to record.", seen: "Nothing was saved.")
    }
    try write(names, of: directory, to: release)
    return true
  }

  /// Writes all files or none: they get their place when all are written.
  private func write(
    _ names: [String], of directory: MemoryStateDirectory, to release: String
  ) throws {
    let temporary = "\(folder)/.\(release).tmp"
    if isFolder(temporary) { try FileManager.default.removeItem(atPath: temporary) }
    try FileManager.default.createDirectory(
      atPath: temporary, withIntermediateDirectories: true)
    for name in names {
      guard let bytes = directory.memory(named: name).bytes else { continue }
      try Data(bytes).write(to: URL(fileURLWithPath: "\(temporary)/\(name)\(Self.suffix)"))
    }
    try FileManager.default.moveItem(atPath: temporary, toPath: "\(folder)/\(release)")
  }

  // MARK: Restoring

  /// Restores every recorded state into a new root.
  ///
  /// All states are tried, even if one fails.
  ///
  /// - Parameter make: Makes the root that the app of today makes at launch.
  /// - Returns: The releases in their order, each with its root and the report.
  /// - Throws: ``RestorationTestFailure`` with `notRecorded` if no release is recorded,
  ///   and with `stateNotBack` if a state does not come back, or not without problems
  ///   unless the tester allows some; `seen` then lists all problems. Errors of `make`
  ///   are listed, too.
  public func restoreAll<Root: RestorableNode>(
    _ make: () async throws -> Root
  ) async throws -> [GoldenState<Root>] {
    try await restoreAll { tester in
      let keeper = try tester.launch()
      let root = try await make()
      let report = try await keeper.restore(into: [root])
      guard report.outcome == .restored else {
        throw RestorationTestFailure(
          .stateNotBack, "main", expected: "A recorded state is restored.", seen: "\(report)")
      }
      return (root, report)
    } state: { release, restored in
      GoldenState(release: release, root: restored.0, report: restored.1)
    }
  }

  /// Lets the app of today restore every recorded state.
  ///
  /// Use the method for an app with windows, or with several roots.
  ///
  ///     try await golden.restoreAll { release, tester in
  ///       let host = try await tester.launchHost()
  ///       #expect(host.connectedScenes.count == 1)
  ///     }
  ///
  /// - Parameter restore: Launches the app with a tester that has the state of the
  ///   release.
  /// - Throws: ``RestorationTestFailure`` with `notRecorded` if no release is recorded,
  ///   and with `stateNotBack`, after all were tried, if the files of any of them are
  ///   gone, or if `restore` throws for it.
  public func restoreAll(
    _ restore: (_ release: String, _ tester: RestorationTester) async throws -> Void
  ) async throws {
    var current = ""
    _ = try await restoreAll { tester in
      try await restore(current, tester)
    } willRestore: {
      current = $0
    } state: { _, _ in
    }
  }

  private func restoreAll<Restored, State>(
    _ restore: (RestorationTester) async throws -> Restored,
    willRestore: (String) -> Void = { _ in },
    state: (_ release: String, Restored) -> State
  ) async throws -> [State] {
    var states: [State] = []
    var problems: [String] = []
    let releases = try releases()
    for release in releases {
      willRestore(release)
      do {
        let tester = try tester(over: try read(release))
        defer { tester.kill() }
        let restored = try await restore(tester)
        try tester.failForProblems(release)
        states.append(state(release, restored))
      } catch {
        problems.append("\(release): \(error)")
      }
    }
    guard !releases.isEmpty else {
      throw RestorationTestFailure(
        .notRecorded, folder, expected: "At least one release is recorded.", seen: "There is none.")
    }
    guard problems.isEmpty else {
      throw RestorationTestFailure(
        .stateNotBack, folder, expected: "Every recorded state comes back.",
        seen: problems.joined(separator: "\n"))
    }
    return states
  }

  private func read(_ release: String) throws -> MemoryStateDirectory {
    let directory = MemoryStateDirectory()
    let path = "\(folder)/\(release)"
    let files = try FileManager.default.contentsOfDirectory(atPath: path)
      .filter { $0.hasSuffix(Self.suffix) && !$0.hasPrefix(".") }
    guard !files.isEmpty else {
      throw RestorationTestFailure(
        .stateNotBack, path, expected: "A recorded release has a file for each state.",
        seen: "There is no file that ends in “\(Self.suffix)”.")
    }
    for file in files {
      directory.memory(named: String(file.dropLast(Self.suffix.count))).bytes = Array(
        try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(file)")))
    }
    return directory
  }

  // MARK: Testers, names and keys

  private static let suffix = ".rka"

  private func tester(over directory: MemoryStateDirectory) throws -> RestorationTester {
    try makeTester().over(directory, keys: try Self.key())
  }

  /// Everybody knows the key, since a key beside the states would keep them from nobody either.
  private static func key() throws(ArchiveError) -> ArchiveKey {
    let bytes = UnsafeMutableRawBufferPointer.allocate(
      byteCount: ArchiveKey.byteCount, alignment: 1)
    defer { unsafe bytes.deallocate() }
    for place in bytes.indices { unsafe bytes[place] = UInt8(place) }
    return try unsafe ArchiveKey(moving: bytes)
  }

  private func isFolder(_ path: String) -> Bool {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.type] as? FileAttributeType == .typeDirectory
  }

  /// Numbers count by their value, and come before words: 1.9 is older than 1.10.
  private static func isOlder(_ left: String, _ right: String) -> Bool {
    let (first, second) = (parts(left), parts(right))
    for (one, other) in zip(first, second) where one != other {
      switch (Int(one), Int(other)) {
      case (let one?, let other?) where one != other: return one < other
      case (.some, nil): return true
      case (nil, .some): return false
      default: return one < other
      }
    }
    return first.count < second.count
  }

  /// The numbers and the words in a name: of 2.0-beta1 they are 2, 0, beta, 1.
  private static func parts(_ name: String) -> [String] {
    var parts = [""]
    var last: Character?
    for character in name {
      if last?.isNumber != character.isNumber || last?.isLetter != character.isLetter {
        parts.append("")
      }
      if character.isNumber || character.isLetter { parts[parts.count - 1].append(character) }
      last = character
    }
    return parts.filter { !$0.isEmpty }
  }
}

@available(*, unavailable, message: "a tester belongs to the actor of its nodes")
extension GoldenStates: Sendable {}

/// The result of restoring one recorded state.
public struct GoldenState<Root> {
  /// The release that recorded the state.
  public let release: String

  /// The root that the closure made, with the recorded state.
  public let root: Root

  /// The report of the restore.
  public let report: RestorationReport
}

extension GoldenState: Sendable where Root: Sendable {}
