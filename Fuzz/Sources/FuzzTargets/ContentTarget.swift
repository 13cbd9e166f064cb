import ArchiveCodec
import ArchiveForge

/// Authentic commits of any content: frames, index, footer and symbols of
/// somebody who has the key.
///
/// The input is one byte, whose two low bits say how many changes there are,
/// then for every commit but the last the bytes of its content and for each
/// what its trailer says of the footer (two bytes each), then the contents.
enum ContentTarget {
  static func run(_ input: [UInt8]) throws(Finding) {
    guard let commits = commits(input) else { return }
    let bytes = UncheckedArchive(commits).sealed(
      key: FuzzArchive.keyBytes, context: FuzzArchive.contextFields, random: FuzzArchive.stuck)
    guard let archive = try opened(MemoryStorage(bytes)) else { return }
    try readsTheSameInEveryWay(archive)
  }

  private static func opened(_ storage: MemoryStorage) throws(Finding) -> Archive? {
    do {
      return try Archive.open(storage, key: FuzzArchive.key, context: FuzzArchive.context)
    } catch {
      // A content that is empty makes a commit that cannot be.
      try promise(
        [.malformed, .limitExceeded, .unsupportedFeature, .damaged].contains(error.code),
        "an authentic archive is \(error)")
      return nil
    }
  }

  /// One by one or all together, a record is the same.
  private static func readsTheSameInEveryWay(_ archive: Archive) throws(Finding) {
    let all: [Archive.Record]
    let identifiers: [UInt64]
    do {
      all = try archive.readAll()
      identifiers = try archive.recordIdentifiers()
    } catch {
      return
    }
    try promise(
      all.map(\.identifier).sorted() == identifiers, "the index and the records differ")
    var isWellFormed = true
    for record in all {
      let alone = Result { () throws(ArchiveError) in try archive.record(record.identifier) }
      switch (record.content, alone) {
      case (.success(let one), .success(let other)):
        try promise(one.keys == other?.keys, "record \(record.identifier) has other keys")
      case (.failure(let one), .failure(let other)):
        isWellFormed = false
        try promise(one.code == other.code, "record \(record.identifier): \(one), \(other)")
      default: throw Finding("record \(record.identifier) depends on how it is read")
      }
    }
    let verified = (try? archive.verifyAll()) != nil
    try promise(verified == isWellFormed, "verifying and reading disagree")
  }

  private static func commits(_ input: [UInt8]) -> [UncheckedArchive.Commit]? {
    guard let first = input.first else { return nil }
    let count = Int(first & 3) + 1
    var words: [Int] = []
    for place in 0..<2 * count - 1 {
      guard input.count >= 3 + 2 * place else { return nil }
      words.append(Int(input[1 + 2 * place]) | Int(input[2 + 2 * place]) << 8)
    }
    var rest = input[(4 * count - 1)...]
    return (0..<count).map { place in
      let content = place == count - 1 ? rest : rest.prefix(words[place])
      rest = rest.dropFirst(content.count)
      return commit(
        number: place, Array(content), footerByteCount: words[count - 1 + place])
    }
  }

  /// The first commit is the snapshot, the others are changes.
  private static func commit(
    number: Int, _ content: [UInt8], footerByteCount: Int
  ) -> UncheckedArchive.Commit {
    UncheckedArchive.Commit(
      flags: number == 0 ? 1 : 2, content: content, footerByteCount: footerByteCount)
  }

  // MARK: - Seeds

  static var seeds: [[UInt8]] {
    let first = content(records: [1: [0x90, 1], 2: map(0x2A)], removed: [], symbols: ["a", "b"])
    let second = content(records: [3: map(0xA0)], removed: [1], symbols: ["c"])
    let third = content(records: [:], removed: [2, 3], symbols: [])
    let long = content(
      records: [1: [0xAD] + [33, 33 << 1 | 1]], removed: [], symbols: [], padding: 20_000)
    return [[first], [first, second], [first, second, third], [long]].map(input)
  }

  /// A map whose only key is the first symbol.
  private static func map(_ value: UInt8) -> [UInt8] { [0x91, 5, 1, value] }

  private static func input(_ contents: [UncheckedArchive.Commit]) -> [UInt8] {
    let words =
      contents.dropLast().map { UInt64($0.content.count) }
      + contents.map { UInt64($0.footerByteCount) }
    return [UInt8(contents.count - 1)] + words.flatMap { ModelValue.little($0, count: 2) }
      + contents.flatMap(\.content)
  }

  private static func content(
    records: [UInt64: [UInt8]], removed: [UInt64], symbols: [String], padding: Int = 0
  ) -> UncheckedArchive.Commit {
    func frame(_ kind: UInt8, _ payload: [UInt8]) -> [UInt8] {
      [kind] + ModelValue.varint(UInt64(payload.count)) + payload
    }
    // An unknown even kind is skipped.
    var bytes = padding == 0 ? [] : frame(2, [UInt8](repeating: 7, count: padding))
    var entries: [(UInt64, [UInt8])] = removed.map {
      ($0, [UInt8](repeating: 0, count: 8))
    }
    var byteCount = 0
    for (record, map) in records.sorted(by: { $0.key < $1.key }) {
      let payload = ModelValue.little(record, count: 8) + map
      entries.append(
        (
          record,
          ModelValue.little(UInt64(bytes.count), count: 5)
            + ModelValue.little(UInt64(payload.count), count: 3)
        ))
      byteCount += payload.count
      bytes += frame(1, payload)
    }
    let names = symbols.flatMap { ModelValue.varint(UInt64($0.utf8.count)) + Array($0.utf8) }
    let table = ModelValue.varint(UInt64(symbols.count)) + names
    bytes += frame(3, table)
    let tableStart = bytes.count - table.count
    let index = entries.sorted { $0.0 < $1.0 }.flatMap {
      ModelValue.little($0.0, count: 8) + $0.1
    }
    bytes += frame(5, index)
    let numbers = [
      0, entries.count, byteCount, tableStart, table.count, bytes.count - index.count, index.count,
    ]
    let footer = frame(7, numbers.flatMap { ModelValue.varint(UInt64($0)) })
    // An input says nothing of the flags.
    return commit(number: 0, bytes + footer, footerByteCount: footer.count)
  }
}
