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

  /// Appends a tree with the node in record 3 as its root.
  func appendTree(_ builder: RecordBuilder) throws {
    try builder.append(record: StoredState.treeRecord) {
      $0.encodeReferences(to: [3], forKey: "roots")
    }
  }

  /// Appends one node in record 3, and what the body adds.
  func appendNode(
    _ builder: RecordBuilder, version: Int = 1, _ body: (KeyedEncoder) -> Void
  ) throws {
    try builder.append(record: 3) { encoder in
      encoder.encodeContainer(forKey: "node") { node in
        node.encode("window", forKey: "identifier")
        node.encode(name: "NotesScreen", forKey: "class")
        if version != 1 { node.encode(version, forKey: "version") }
      }
      body(encoder)
    }
  }

  /// Changes a byte of the stored state.
  func damage(at part: Double) throws {
    let url = URL(filePath: try sandbox().stateFile)
    var bytes = try Data(contentsOf: url)
    bytes[Int(Double(bytes.count) * part)] ^= 1
    try bytes.write(to: url)
  }
}
