import Foundation
import XCTest

/// Writes the vectors that are not there; run by hand, see `Vectors/README.md`.
final class VectorGenerator: XCTestCase {
  func testMissingVectorsAreWrittenAndTheOthersAreTheSame() throws {
    try XCTSkipUnless(
      ProcessInfo.processInfo.environment["WRITE_VECTORS"] == "1",
      "Vectors are only read. Run with WRITE_VECTORS=1 to write those that are missing.")
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Vectors")
    let vectors =
      try GoldenVectors.all() + HeaderVectors.all() + CommitVectors.all() + ContentVectors.all()
      + ValueVectors.all() + PassphraseVectors.all()
    XCTAssertEqual(Set(vectors.map(\.name)).count, vectors.count, "a name twice")
    for vector in vectors {
      let file = folder.appendingPathComponent("\(vector.name).txt")
      let text = try vector.file().text
      if let stored = try? String(contentsOf: file, encoding: .utf8) {
        var isSame = stored == text
        if !isSame, vector.hasChangesOfAnEarlierWriter {
          isSame = try VectorFile(parsing: stored).withoutSalts == vector.file().withoutSalts
        }
        XCTAssertTrue(isSame, "\(vector.name) stays as it is; delete it to have it written anew")
      } else {
        try text.write(to: file, atomically: true, encoding: .utf8)
      }
    }
  }
}

extension NewVector {
  /// Whether the stored vector has salts of changes that were made from less:
  /// readers do not check how a salt is made, so it opens as ever.
  fileprivate var hasChangesOfAnEarlierWriter: Bool {
    name.hasPrefix("journal-") || name == "golden-journal" || name.hasPrefix("golden-compacted")
  }
}

extension VectorFile {
  /// The file without what depends on salts: the bytes but for their number,
  /// and the MAC of the version.
  fileprivate var withoutSalts: String {
    var file = self
    file.archive = []
    file.content = file.content.map { line in
      line.hasPrefix("version: ") ? String(line.dropLast(2 * 32)) : line
    }
    return file.text + "\(archive.count) bytes"
  }
}
