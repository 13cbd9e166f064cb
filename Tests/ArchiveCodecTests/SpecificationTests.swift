import Foundation
import XCTest

/// What the example of the specification shows of an archive is that archive.
final class SpecificationTests: XCTestCase {
  /// The blocks of the example: the file, the keys, the content.
  private func blocks() throws -> [[Substring]] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Vectors/example.md")
    let blocks = try String(contentsOf: file, encoding: .utf8).split(separator: "\n\n")
    return blocks.filter { $0.hasPrefix("    ") }
      .map { block in block.split(separator: "\n").map { $0.dropFirst(4) } }
  }

  /// The digits of lines with an offset, two spaces, bytes, two spaces, text.
  private func digits(inDump lines: [Substring]) -> String {
    var digits = ""
    for line in lines {
      let offset = String(digits.utf8.count / 2, radix: 16)
      XCTAssertEqual(
        String(line.prefix(4)), String(repeating: "0", count: 4 - offset.count) + offset)
      digits += line.dropFirst(6).prefix(47).filter { $0 != " " }
    }
    return digits
  }

  func testTheDumpOfTheExampleIsTheVector() throws {
    let vector = try VectorFile.named("golden-one-record")
    XCTAssertEqual(try blocks().count, 3)
    XCTAssertEqual(
      digits(inDump: try blocks()[0]), VectorFile.hexadecimal(vector.archive))
  }

  #if os(Linux) || os(macOS)
  func testTheKeysAndTheContentOfTheExampleAreWhatFollowsFromIt() throws {
    let lines = try PythonReader.read(["golden-one-record"], ["--derivations"])
    let derived = try XCTUnwrap(lines["golden-one-record"])
    var shown: [String] = []
    for line in try blocks()[1] {
      let name = line.prefix(14).trimmingCharacters(in: .whitespaces)
      if name.isEmpty {
        shown[shown.count - 1] += line.dropFirst(14)
      } else {
        shown.append("\(name): \(line.dropFirst(14))")
      }
    }
    shown.append("content: \(digits(inDump: try blocks()[2]))")
    XCTAssertEqual(shown, Array(derived.prefix(shown.count)))
  }
  #endif
}
