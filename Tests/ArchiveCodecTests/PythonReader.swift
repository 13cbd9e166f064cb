#if os(Linux) || os(macOS)
import Foundation
import XCTest

/// The script `Vectors/read-archive.py`.
enum PythonReader {
  /// The lines for each file; skips the test if Python cannot run it.
  static func read(_ names: [String], _ options: [String] = []) throws -> [String: [String]] {
    guard try run(["-c", "import nacl.bindings"]).status == 0 else {
      throw XCTSkip(
        "The archives were not read in Python: python3 or PyNaCl is not there."
          + " Install it with: pip install pynacl")
    }
    let folder = try VectorFile.folder
    let (status, output) = try run(
      [folder.appendingPathComponent("read-archive.py").path] + options
        + names.map { folder.appendingPathComponent("\($0).txt").path })
    XCTAssertEqual(status, 0)
    var files: [String: [String]] = [:]
    var name = ""
    for line in output.split(separator: "\n") {
      if line.hasPrefix("file: "), line.hasSuffix(".txt") {
        name = String(line.dropFirst("file: ".count).dropLast(".txt".count))
        files[name] = []
      } else {
        files[name, default: []].append(String(line))
      }
    }
    return files
  }

  private static func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    // Otherwise it would leave compiled files in the folder of the vectors.
    process.arguments = ["python3", "-B"] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    // Before the wait: a full pipe would stop the process.
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }
}
#endif
