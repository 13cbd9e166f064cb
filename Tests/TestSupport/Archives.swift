package import ArchiveCodec
package import ArchiveForge
import XCTest

/// One key and one context for the archives of a test.
package struct TestArchives {
  package let key: ArchiveKey
  package let context = ArchiveContext(contextFields)
  private let keyBytes: [UInt8]
  private static let contextFields = ["org.example.test", "main"]

  package init() throws {
    keyBytes = (0..<ArchiveKey.byteCount).map { _ in .random(in: .min ... .max) }
    key = try .known(keyBytes)
  }

  /// The bytes of an archive of what the body encodes.
  package func bytes(_ body: (RecordBuilder) throws -> Void) throws -> [UInt8] {
    let builder = RecordBuilder()
    try body(builder)
    return try bytes(sealing: builder.finish())
  }

  /// An archive of two records in one chunk.
  package func small() throws -> [UInt8] {
    try bytes { builder in
      try builder.append(record: 1) { encoder in
        encoder.encode("text in progress", forKey: "text")
        encoder.encode(17, forKey: "cursor")
      }
      try builder.append(record: 2) { $0.encodeReference(to: 1, forKey: "parent") }
    }
  }

  package func bytes(sealing records: RecordBatch) throws -> [UInt8] {
    let storage = MemoryStorage()
    _ = try Archive.write(records, to: storage, key: key, context: context)
    return try XCTUnwrap(storage.bytes)
  }

  /// The bytes of what somebody made who has the key.
  package func bytes(sealing commits: [UncheckedArchive.Commit]) -> [UInt8] {
    UncheckedArchive(commits).sealed(
      key: keyBytes, context: Self.contextFields, random: .system)
  }

  /// Opens the bytes and checks all of them.
  package func verified(_ bytes: [UInt8]) throws -> Archive {
    // XCTUnwrap would count the errors that tests expect as failures.
    guard let archive = try Archive.open(MemoryStorage(bytes), key: key, context: context) else {
      throw NothingStored()
    }
    try archive.verifyAll()
    return archive
  }

  /// Encodes one record and opens it again.
  package func record(_ body: (KeyedEncoder) throws -> Void) throws -> KeyedDecoder {
    let bytes = try bytes { try $0.append(record: 1, body) }
    return try XCTUnwrap(try verified(bytes).record(1))
  }
}

extension RecordBatch {
  /// All that will be sealed of the records.
  package var plaintext: [UInt8] { unsealed.symbols + unsealed.maps.joined() }
}

private struct NothingStored: Error {}

/// The error that the body throws, and a failure if it throws none.
package func archiveError(
  _ message: String = "", file: StaticString = #filePath, line: UInt = #line,
  _ body: () throws -> Void
) -> ArchiveError? {
  do {
    try body()
    XCTFail("did not throw \(message)", file: file, line: line)
    return nil
  } catch let error as ArchiveError {
    return error
  } catch {
    XCTFail("threw \(error) \(message)", file: file, line: line)
    return nil
  }
}
