#if os(Linux) || os(macOS)
import XCTest

/// The reader in Python knows the specification only, and must agree with ours.
final class PythonReaderTests: XCTestCase {
  func testTheGoldenArchivesHoldTheSameForAReaderOfTheSpecification() throws {
    let golden = try VectorFile.all().filter { $0.name.hasPrefix("golden-") }
    XCTAssertFalse(golden.isEmpty)
    let read = try PythonReader.read(golden.map(\.name))
    for (name, vector) in golden { XCTAssertEqual(read[name], vector.content, name) }
  }

  /// It is always strict and reads everything.
  func testAReaderOfTheSpecificationRefusesWhatWeRefuse() throws {
    let vectors = try VectorFile.all()
    let read = try PythonReader.read(vectors.map(\.name))
    for (name, vector) in vectors {
      if vector.expect == "opens", vector.verify == nil {
        XCTAssertEqual(read[name], vector.content, name)
      } else {
        let lines = try XCTUnwrap(read[name], name)
        XCTAssertEqual(lines.count, 1, name)
        XCTAssert(lines.first?.hasPrefix("refused: ") ?? false, name)
      }
    }
  }
}
#endif
