import ArchiveCodec
import ArchiveForge
import Foundation

/// Real archives that are the same in every run: key, salts and all.
struct FuzzArchive {
  let bytes: [UInt8]
  /// Where each commit ends.
  let ends: [Int]

  static let contextFields = ["org.example.fuzz"]
  static let context = ArchiveContext(contextFields)
  static let stuck = RandomSource { bytes, count in
    bytes.initializeMemory(as: UInt8.self, repeating: 7, count: count)
  }
  static let keyBytes = [UInt8](repeating: 7, count: 32)
  static let key: ArchiveKey = {
    do { return try .known(keyBytes) } catch { fatalError("\(error)") }
  }()

  /// Archives with and without a journal, in one chunk and in two.
  static var all: [FuzzArchive] {
    get throws {
      [
        try FuzzArchive(snapshot: 0, changes: 0), try FuzzArchive(snapshot: 3, changes: 0),
        try FuzzArchive(snapshot: 3, changes: 3), try FuzzArchive(snapshot: 90, changes: 1),
      ]
    }
  }

  private init(snapshot: UInt64, changes: UInt64) throws {
    let storage = MemoryStorage()
    let builder = RecordBuilder()
    for record in 0..<snapshot {
      try builder.append(record: record + 1) { try Self.encode(record, $0) }
    }
    _ = try Archive.write(
      try builder.finish(), to: storage, slots: [.key(Self.key)], context: Self.context,
      replacing: nil, schema: 5, random: Self.stuck, moment: Archive.Moment(witness: [7]))
    let writer = try ArchiveWriter(
      storage, with: .key(Self.key), context: Self.context, random: Self.stuck)
    var ends = [storage.bytes?.count ?? 0]
    for change in 0..<changes {
      let builder = writer.builder()
      try builder.append(record: change + 2) { $0.encode("changed", forKey: "new \(change)") }
      try writer.append(try builder.finish(), removing: [1])
      ends.append(storage.bytes?.count ?? 0)
    }
    bytes = storage.bytes ?? []
    self.ends = ends
  }

  /// All that the format has a form for.
  static func encode(_ number: UInt64, _ encoder: KeyedEncoder) throws {
    encoder.encode(number * 40, forKey: "integer")
    encoder.encode(-17 - Int64(number), forKey: "negative")
    encoder.encode(UInt64.max, forKey: "largest")
    encoder.encode(number == 0, forKey: "bool")
    encoder.encode(Float(0.5), forKey: "float")
    encoder.encode(0.1, forKey: "double")
    encoder.encode(Date(timeIntervalSinceReferenceDate: 1), forKey: "date")
    encoder.encode(
      UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)), forKey: "id")
    encoder.encode(URL(string: "https://example.org/a?b"), forKey: "url")
    encoder.encode("text", forKey: "string")
    encoder.encode(String(repeating: "é", count: 30), forKey: "long")
    encoder.encode(Data([0, 1, 255]), forKey: "bytes")
    encoder.encode([1, -1], forKey: "narrow")
    encoder.encode([Int.max, 1 << 20, 300], forKey: "wide")
    encoder.encode([UInt64.max], forKey: "unsigned")
    encoder.encode([Float(1)], forKey: "floats")
    encoder.encode([1.5, -0.0], forKey: "doubles")
    encoder.encode(["a", ""], forKey: "strings")
    encoder.encode((0..<20).map { "\($0)" }, forKey: "many")
    encoder.encode(["x": 1, "": 2], forKey: "dictionary")
    encoder.encode(
      Dictionary(uniqueKeysWithValues: (0..<20).map { ("\($0)", true) }), forKey: "large map")
    encoder.encodeReference(to: 2, forKey: "reference")
    encoder.encodeReferences(to: [1, 300], forKey: "references")
    encoder.encodeContainer(forKey: "container") { $0.encode([[1], []], forKey: "integer") }
  }
}
