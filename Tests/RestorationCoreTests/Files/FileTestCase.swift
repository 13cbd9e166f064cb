import ArchiveCodec
import Foundation
import RestorationKit
import XCTest

/// What is stored in these tests: texts by numbers, and which number is above another one.
struct TextTree: LaunchedTree, Equatable {
  var texts: [UInt64: String] = [:]
  var parents: [UInt64: UInt64] = [:]

  init(_ texts: [UInt64: String]) { self.texts = texts }

  init(_ archive: Archive) throws(ArchiveError) {
    for record in try archive.recordIdentifiers() {
      guard let values = try archive.record(record) else { continue }
      texts[record] = try values.decode(forKey: "text")
      parents[record] = try values.decodeIfPresent(forKey: "above")
    }
  }

  var rootCount: Int { texts.keys.count { parents[$0] == nil } }

  func contains(element id: UInt64) -> Bool { texts[id] != nil }

  func element(above id: UInt64) -> UInt64? { parents[id] }
}

/// Launches of an app, one after the other.
class FileTestCase: XCTestCase {
  var directory = HookedDirectory()
  var environment = FileTestCase.environment(of: "1")
  var now = Date(timeIntervalSince1970: 1_700_000_000)
  var policy = StatePolicy()
  var keys: any KeyProvider = MissingKey()
  let application = "org.example.files"
  /// The files of launches that have not ended, unless they were killed.
  var alive: [StateFile] = []

  override func setUpWithError() throws {
    keys = try ArchiveKey()
  }

  struct MissingKey: KeyProvider {
    func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? { nil }
  }

  static func environment(of version: String) -> ApplicationEnvironment {
    var environment = ApplicationEnvironment(applicationVersion: version, systemVersion: "1")
    (environment.bootSession, environment.uptime) = ("boot", 1000)
    return environment
  }

  /// The file of a launch, in the directory of the test or in another one.
  func file(in directory: (any StateDirectory)? = nil, name: String = "main") -> StateFile {
    var source = StateFile.Source(
      name: name, application: application, directory: directory ?? self.directory, keys: keys,
      environment: environment)
    source.pause = { _, _ in false }
    let file = StateFile(source)
    file.conditions = (policy, now)
    alive.append(file)
    return file
  }

  /// Opens a file, and says what tree is restored; nil if none is.
  @discardableResult
  func open(_ file: StateFile) throws -> (tree: TextTree?, opened: OpenedState) {
    let opened = try file.open(TextTree.self)
    return (opened.tree as? TextTree, opened)
  }

  func builder(_ file: StateFile) throws -> RecordBuilder {
    try file.openWriter()?.builder() ?? RecordBuilder()
  }

  /// Saves texts, and which number is above another one.
  @discardableResult
  func save(
    _ texts: [UInt64: String], above: [UInt64: UInt64] = [:], removing: [UInt64] = [],
    leavingNoTrace: Bool = false, to file: StateFile
  ) throws -> StateFile.Appended {
    let builder = try builder(file)
    for (record, text) in texts.sorted(by: { $0.key < $1.key }) {
      try builder.append(record: record) { encoder in
        encoder.encode(text, forKey: "text")
        encoder.encode(above[record], forKey: "above")
      }
    }
    if leavingNoTrace { try builder.append(record: TreeRecord.compactionDue) { _ in } }
    return try file.append(
      try builder.finish(), removing: removing,
      schema: UInt32(now.timeIntervalSinceReferenceDate), isCompactionDue: leavingNoTrace)
  }

  /// A whole launch: restores, ends the restore, saves and ends.
  @discardableResult
  func launch(saving texts: [UInt64: String] = [:]) throws -> TextTree? {
    let file = file()
    let (tree, opened) = try open(file)
    opened.mark?.endRestore()
    if !texts.isEmpty { try save(texts, to: file) }
    try file.close()
    return tree
  }

  func bytes(of name: String = "main") -> [UInt8]? { directory.base.memory(named: name).bytes }

  func reasons(_ file: StateFile? = nil) throws -> [Moment.Reason] {
    try (file ?? self.file()).history().map(\.reason)
  }
}

/// A directory of files, which is removed at the end.
final class FilesOfTest {
  let path = NSTemporaryDirectory() + "StateFiles-\(UInt64.random(in: .min ... .max))"

  init() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func child(_ name: String) -> String { "\(path)/\(name)" }

  /// The files as they are now, in a directory of their own.
  func copied() throws -> FilesOfTest {
    let copy = try FilesOfTest()
    try FileManager.default.removeItem(atPath: copy.path)
    try FileManager.default.copyItem(atPath: path, toPath: copy.path)
    return copy
  }

  func names(in directory: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: child(directory)).sorted()
  }

  func bytes(of name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: child(name))))
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(filePath: child(name)))
  }
}

extension MomentStore {
  init(copying name: String, in directory: any StateDirectory) {
    self.init(of: directory.storage(named: name), in: directory, prefix: "\(name).history-")
  }

  /// The bytes of a moment, or as many of them as are there.
  func bytes(of moment: Moment) throws -> [UInt8] {
    guard let file = try file(of: moment) else { return [] }
    return try file.read(at: 0, count: file.byteCount)
  }
}
