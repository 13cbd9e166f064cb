import ArchiveCodec
import ArchiveForge

/// The content of a commit, right unless a vector says otherwise.
struct HostileContent {
  struct Entry {
    var record: UInt64
    var offset: UInt64
    var byteCount: UInt64
  }

  enum Part {
    case records, symbols, index, footer
    /// Bytes that stand among the frames.
    case raw([UInt8])
  }

  var records: [(UInt64, [UInt8])] = [(1, Self.map([0x2A]))]
  var symbols = Self.table(["a", "b"])
  var removed: [UInt64] = []
  var order: [Part] = [.records, .symbols, .index, .footer]
  var editIndex: (inout [Entry]) -> Void = { _ in }
  /// The numbers of the footer: schema, entries, bytes of records, then
  /// offset and bytes of the symbols and of the index.
  var editFooter: (inout [UInt64]) -> Void = { _ in }
  var extensionFields: [UInt8] = []
  /// Takes the place of the numbers and the fields.
  var footerPayload: [UInt8]?

  init() {}

  init(_ edit: (inout HostileContent) -> Void) {
    edit(&self)
  }

  /// The commit that these bytes make, as the snapshot unless told otherwise.
  func commit(flags: UInt32 = 1) -> UncheckedArchive.Commit {
    var content: [UInt8] = []
    var entries = removed.map { Entry(record: $0, offset: 0, byteCount: 0) }
    var (symbolRange, indexRange) = (0..<0, 0..<0)
    var footerByteCount = 0
    func append(_ kind: UInt8, _ payload: [UInt8]) -> Range<Int> {
      content += [kind] + Self.varint(UInt64(payload.count)) + payload
      return content.count - payload.count..<content.count
    }
    for part in order {
      switch part {
      case .records:
        for (record, map) in records {
          let offset = content.count
          let payload = append(1, Self.integer(record, byteCount: 8) + map)
          entries.append(
            Entry(record: record, offset: UInt64(offset), byteCount: UInt64(payload.count)))
        }
      case .symbols: symbolRange = append(3, symbols)
      case .index:
        entries.sort { $0.record < $1.record }
        editIndex(&entries)
        indexRange = append(
          5,
          entries.flatMap { entry in
            Self.integer(entry.record, byteCount: 8) + Self.integer(entry.offset, byteCount: 5)
              + Self.integer(entry.byteCount, byteCount: 3)
          })
      case .footer:
        let start = content.count
        let recordByteCount = records.reduce(0) { $0 + 8 + $1.1.count }
        var numbers = [
          0, entries.count, recordByteCount, symbolRange.lowerBound, symbolRange.count,
          indexRange.lowerBound, indexRange.count,
        ].map { UInt64($0) }
        editFooter(&numbers)
        _ = append(7, footerPayload ?? numbers.flatMap(Self.varint) + extensionFields)
        footerByteCount = content.count - start
      case .raw(let bytes): content += bytes
      }
    }
    return UncheckedArchive.Commit(
      flags: flags, content: content, footerByteCount: footerByteCount)
  }
}

/// The bytes of the format, written here once more without the library.
extension HostileContent {
  static func integer(_ value: UInt64, byteCount: Int) -> [UInt8] {
    (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> UInt64($0 * 8)) }
  }

  static func varint(_ value: UInt64) -> [UInt8] {
    let bits = UInt64.bitWidth - value.leadingZeroBitCount
    return varint(value, byteCount: bits > 56 ? 9 : max(1, (bits + 6) / 7))
  }

  /// With as many bytes as told, also more than the number needs.
  static func varint(_ value: UInt64, byteCount: Int) -> [UInt8] {
    guard byteCount < 9 else { return [0] + integer(value, byteCount: 8) }
    return integer((value << 1 | 1) << UInt64(byteCount - 1), byteCount: byteCount)
  }

  /// The payload of a symbols frame.
  static func table(_ names: [String]) -> [UInt8] {
    varint(UInt64(names.count)) + names.flatMap { varint(UInt64($0.utf8.count)) + Array($0.utf8) }
  }

  static func symbolKey(_ number: UInt64) -> [UInt8] { varint(number << 1) }

  static func inlineKey(_ name: [UInt8]) -> [UInt8] { varint(UInt64(name.count) << 1 | 1) + name }

  /// A map with one entry, whose key is the symbol 0.
  static func map(_ value: [UInt8]) -> [UInt8] { entries([symbolKey(0) + value]) }

  /// A map of up to 15 entries.
  static func entries(_ entries: [[UInt8]]) -> [UInt8] {
    [0x90 + UInt8(entries.count)] + varint(UInt64(entries.joined().count)) + entries.joined()
  }
}
