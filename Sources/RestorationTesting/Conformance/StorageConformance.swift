public import ArchiveCodec

/// The promises of ``/ArchiveCodec/ArchiveStorage``, as checks for one of your own.
///
/// The checks look at a storage as a process sees it. They cannot check the
/// state after a power cut.
public enum StorageConformance: Sendable {
  /// The promises of every storage.
  public static let checks: [ConformanceCheck<any ArchiveStorage>] =
    reading + replacing + appending + locking + removing
}

/// The error of a body, which a storage must pass on.
let bodyFailure = ArchiveError(.storageFull, subject: "the check's own error")

/// The calls of the checks.
extension ArchiveStorage {
  func replace(by bytes: [UInt8]) throws(ArchiveError) {
    try replace { sink throws(ArchiveError) in try sink.write(bytes) }
  }

  /// Replaces with a body that throws in the end.
  ///
  /// The error is ignored here: passing it on is another promise.
  func failToReplace() {
    try? replace { (sink: any ArchiveSink) throws(ArchiveError) in
      try sink.write(.sample(9, count: 5000))
      throw bodyFailure
    }
  }

  /// All bytes that are stored; nil if nothing is.
  func storedBytes() throws(ArchiveError) -> [UInt8]? {
    guard let file = try open() else { return nil }
    return try file.read(at: 0, count: file.byteCount)
  }
}

extension [UInt8] {
  /// Different bytes for each number, no two blocks of 256 of them alike.
  package static func sample(_ number: Int, count: Int = 100) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* (2 &* number &+ 1) &+ number &+ $0 / 256) }
  }
}

/// The bytes in a few words.
package func describe(_ bytes: [UInt8]?) -> String {
  guard let bytes else { return "nothing" }
  let start = bytes.prefix(4).map(String.init).joined(separator: ", ")
  return "\(bytes.count) bytes\(bytes.isEmpty ? "" : " that begin with \(start)")"
}

/// Ends the check if a storage has other bytes.
package func expectBytes(
  _ expected: [UInt8]?, in storage: any ArchiveStorage, _ moment: String
) throws {
  let found = try storage.storedBytes()
  try expect(
    found == expected, "\(moment) it had \(describe(found)) and not \(describe(expected)).")
}

/// Ends the check if the body does not throw an error with the code.
package func expectThrows(
  _ code: ArchiveError.Code, _ moment: String, _ body: () throws -> Void
) throws {
  do {
    try body()
  } catch let error as ArchiveError {
    return try expect(
      error.code == code, "\(moment) it threw \(error.code) and not \(code).")
  }
  throw Observation("\(moment) it did not throw \(code).")
}
