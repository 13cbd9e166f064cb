import ArchiveCodec
import Foundation
import RestorationKit
import XCTest

@MainActor
class ToolTestCase: XCTestCase {
  private(set) var storedSandbox: Sandbox?

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

  /// Changes a byte of the stored state.
  func damage(at part: Double) throws {
    let url = URL(filePath: try sandbox().stateFile)
    var bytes = try Data(contentsOf: url)
    bytes[Int(Double(bytes.count) * part)] ^= 1
    try bytes.write(to: url)
  }
}
