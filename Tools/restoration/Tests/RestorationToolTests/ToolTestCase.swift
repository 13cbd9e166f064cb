import ArchiveCodec
import Foundation
import RestorationInspection
import RestorationKit
import XCTest

@MainActor
class ToolTestCase: XCTestCase {
  private(set) var storedSandbox: Sandbox?

  /// A test case lives until the process ends; its directories need not.
  override func tearDown() async throws {
    storedSandbox = nil
  }

  /// All subcommands that read a state by its app.
  static let reading = ["tree", "verify", "export", "history", "explain", "report"]

  func sandbox() throws -> Sandbox {
    if let storedSandbox { return storedSandbox }
    let sandbox = try Sandbox()
    storedSandbox = sandbox
    return sandbox
  }

  func app() throws -> NotesApp { NotesApp(sandbox: try sandbox()) }

  func run(_ arguments: String..., input: Data = Data()) throws -> ToolRun {
    try Tool.run(arguments, in: sandbox(), input: input)
  }

  /// Runs a subcommand on the state of the app.
  func inspect(
    _ arguments: String..., input: Data = Data(), files: [Data] = []
  ) throws -> ToolRun {
    try Tool.run(
      arguments + ["--app", Sandbox.application], in: sandbox(), input: input, files: files)
  }

  /// Stores an archive as no save writes it.
  func store(_ build: (RecordBuilder) throws -> Void) throws {
    let builder = RecordBuilder()
    try build(builder)
    let key = try KeyFile(path: try sandbox().keyFile).loadOrCreate()
    _ = try Archive.write(
      try builder.finish(), to: FileStorage(path: try sandbox().stateFile), key: key,
      context: StoredState.context(of: "main", in: Sandbox.application))
  }

  /// The record that says of which classes the elements are.
  static let formsRecord = UInt64.max - 2

  /// Appends a tree of one root.
  func appendTree(_ builder: RecordBuilder, version: Int = 1) throws {
    try builder.append(record: Self.formsRecord) { encoder in
      encoder.encode(UInt64(2), forKey: "idLimit")
      encoder.encode(["NotesScreen"], forKey: "classes")
      encoder.encode([""], forKey: "makers")
      encoder.encode([version], forKey: "versions")
    }
    try builder.append(record: 1) { encoder in
      encoder.encode([Int64(1)], forKey: "ids")
      encoder.encode(["window"], forKey: "names")
      encoder.encode([0], forKey: "forms")
    }
  }

  /// Appends the values of the root.
  func appendNode(_ builder: RecordBuilder, _ body: (KeyedEncoder) -> Void) throws {
    try builder.append(record: 2, body)
  }

  /// Puts a state that nobody has read into the history, sealed with a key of its own or of the app.
  @discardableResult
  func storeMoment(
    of state: String = "main", number: Int = 1, at second: Int = 1_700_000_001,
    key: ArchiveKey? = nil
  ) throws -> String {
    let key = if let key { key } else { try KeyFile(path: try sandbox().keyFile).loadOrCreate() }
    let (builder, memory) = (RecordBuilder(), MemoryStorage())
    try appendTree(builder)
    _ = try Archive.write(
      try builder.finish(), to: memory, key: key,
      context: StoredState.context(of: state, in: Sandbox.application))
    let bytes = memory.bytes ?? []
    let digits = String(1_000_000_000 + number).dropFirst()
    let name = "\(digits)-\(second)-unread-\(bytes.count)"
    let folder = try sandbox().history(state)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(filePath: "\(folder)/\(name)"))
    return name
  }

  /// Changes a byte of the stored state.
  func damage(at part: Double) throws {
    let url = URL(filePath: try sandbox().stateFile)
    var bytes = try Data(contentsOf: url)
    bytes[Int(Double(bytes.count) * part)] ^= 1
    try bytes.write(to: url)
  }
}
