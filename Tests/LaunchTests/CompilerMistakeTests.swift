import Foundation
import TestSupport
import XCTest

/// Mistakes that the compiler finds, and what it lets through.
final class CompilerMistakeTests: XCTestCase {
  private static let modules = LaunchedApp.products + "/Modules"
  /// A module of C that the modules import has no file beside them.
  private static let sodium =
    URL(filePath: #filePath).appending(path: "../../../Sources/CSodium").standardized.path

  /// The errors of the compiler for a file of an app.
  private func errors(in code: String, isTopLevel: Bool = false) throws -> [String] {
    let folder = try TemporaryDirectory()
    let file = folder.path + (isTopLevel ? "/main.swift" : "/App.swift")
    try Data("import RestorationKit\n\(code)".utf8).write(to: URL(filePath: file))
    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments = [
      "swiftc", "-typecheck", "-swift-version", "6",
      isTopLevel ? "-no-color-diagnostics" : "-parse-as-library", "-I", Self.modules,
      "-I", Self.sodium, file,
    ]
    let output = Pipe()
    (compiler.standardOutput, compiler.standardError) = (output, output)
    try compiler.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    compiler.waitUntilExit()
    guard compiler.terminationStatus != 127 else { throw XCTSkip("There is no swiftc.") }
    let lines = text.split(separator: "\n").filter { $0.hasPrefix(file) && $0.contains(" error: ") }
    XCTAssertEqual(compiler.terminationStatus == 0, lines.isEmpty, text)
    return lines.map { line in
      let text = line.split(separator: " error: ", maxSplits: 1).last ?? ""
      return String(text.split(separator: " [#").first ?? "")
    }
  }

  override func setUpWithError() throws {
    guard FileManager.default.fileExists(atPath: Self.modules + "/RestorationKit.swiftmodule")
    else {
      throw XCTSkip("The modules are not beside the tests.")
    }
  }

  func testAnActorCannotBeAScreen() throws {
    let errors = try errors(
      in: """
        actor Note: RestorableScreen {
          @Restored var text = ""
        }
        """)
    XCTAssertEqual(
      errors.last,
      "unavailable static property 'stateTracking' was used to satisfy a requirement of protocol"
        + " 'StateRestoring': an actor cannot be a screen; use a class that is isolated to the main"
        + " actor")
  }

  func testTopLevelCodeTakesNoPropertyWrapper() throws {
    XCTAssertEqual(
      try errors(in: "@Restored(\"count\") var count = 0\ncount += 1", isTopLevel: true),
      ["property wrappers are not yet supported in top-level code"])
    XCTAssertEqual(
      try errors(
        in: "let count = RestoredValue(\"count\", default: 0)\ncount.value += 1", isTopLevel: true),
      [])
  }

  func testTheCompilerFindsTheseMistakes() throws {
    let found = [
      (
        "extension Int { @Restored(\"count\") var count = 0 }",
        "non-static property 'count' declared inside an extension cannot have a wrapper"
      ),
      (
        "@MainActor @Observable final class Model { @Restored(\"count\") var count = 0 }",
        "property wrapper cannot be applied to a computed property"
      ),
      (
        "enum Model { @Restored(\"count\") static var count = 0 }",
        "static property 'count' is not concurrency-safe because it is nonisolated global shared mutable state"
      ),
      (
        "struct Point { var x = 0 }\nstruct Model { @Restored(\"point\") var point = Point() }",
        "generic struct 'Restored' requires that 'Point' conform to 'Decodable'"
      ),
      (
        "final class Note: Codable { var text = \"\" }\nstruct Model { @Restored(\"note\") var note = Note() }",
        "type 'Note' does not conform to the 'Sendable' protocol"
      ),
      (
        "struct Model { @Restored(\"count\") var count: Int }",
        "initializer 'init(_:fileID:line:)' requires that 'Int' conform to 'ExpressibleByNilLiteral'"
      ),
      (
        "struct Model { @Restored(\"pair\") var pair = (0, 0) }",
        "type '(Int, Int)' cannot conform to 'Decodable'"
      ),
    ]
    for (code, error) in found {
      let errors = try errors(in: "import Observation\n" + code)
      XCTAssertTrue(errors.contains(error), "\(code)\n\(errors.joined(separator: "\n"))")
    }
  }

  func testTheCompilerLetsTheseThrough() throws {
    for code in [
      "actor Counter { @Restored(\"count\") var count = 0 }",
      "@MainActor enum Model { @Restored(\"count\") static var count = 0 }",
      "func main() { @Restored(\"count\") var count = 0; count += 1 }",
      "@MainActor final class Note: @MainActor RestorableScreen { @Restored var text = \"\" }",
    ] {
      XCTAssertEqual(try errors(in: code), [], code)
    }
  }
}
