import ArchiveCodec
import Foundation
import TestSupport
import XCTest

/// What is read of an open file, which is kept in memory if it is small.
final class StoredFileTests: XCTestCase {
  private static let largestKept = 1 << 16

  private func file(
    of bytes: [UInt8], _ directory: TemporaryDirectory
  ) throws -> any AppendableArchiveFile {
    try directory.write(bytes, to: "a.rka")
    return try XCTUnwrap(try FileStorage(path: directory.child("a.rka")).openForAppending())
  }

  private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8($0 % 251) } }

  func testEachPieceIsReadWhateverTheSizeOfTheFile() throws {
    for size in [1, 100, Self.largestKept - 1, Self.largestKept, Self.largestKept + 1] {
      let directory = try TemporaryDirectory()
      let all = bytes(size)
      let file = try file(of: all, directory)
      for offset in [0, 1, size / 2, size - 1, size] where offset <= size {
        for count in [0, 1, size - offset] where count <= size - offset {
          XCTAssertEqual(
            try file.read(at: offset, count: count), Array(all[offset..<offset + count]))
        }
        XCTAssertEqual(
          archiveError { _ = try file.read(at: offset, count: size - offset + 1) }?.code, .truncated
        )
      }
    }
  }

  func testWhatIsWrittenOverReadBytesIsReadAnew() throws {
    for size in [100, Self.largestKept + 1] {
      let directory = try TemporaryDirectory()
      var all = bytes(size)
      let file = try file(of: all, directory)
      XCTAssertEqual(try file.read(at: 0, count: size), all)
      try file.write([7, 7], at: 10)
      all[10...11] = [7, 7]
      XCTAssertEqual(try file.read(at: 0, count: size), all)
      try file.write([8, 8], at: size)
      XCTAssertEqual(try file.read(at: 0, count: size), all)
      try file.truncate(to: 50)
      XCTAssertEqual(archiveError { _ = try file.read(at: 0, count: 51) }?.code, .truncated)
      XCTAssertEqual(try file.read(at: 0, count: 50), Array(all[..<50]))
    }
  }

  func testAFileThatWasCutOffIsReadAgainWhenItIsWhole() throws {
    let directory = try TemporaryDirectory()
    let all = bytes(100)
    let file = try file(of: all, directory)
    let path = directory.child("a.rka")
    XCTAssertEqual(truncate(path, 50), 0)
    XCTAssertEqual(archiveError { _ = try file.read(at: 0, count: 100) }?.code, .truncated)
    let handle = try XCTUnwrap(FileHandle(forWritingAtPath: path))
    try handle.write(contentsOf: Data(all))
    try handle.close()
    XCTAssertEqual(try file.read(at: 0, count: 100), all)
  }
}
