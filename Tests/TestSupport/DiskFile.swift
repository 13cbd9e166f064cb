/// The bytes of a file as the system has them, and as the disk has them.
///
/// The two differ by sectors: of each sector that was written since the last sync a
/// power cut may leave what was there before, or what any of the writes made of it.
struct DiskFile {
  private static let sectorByteCount = 512

  private(set) var bytes: [UInt8]
  /// What is on the disk for good.
  private var durable: [UInt8] = []
  /// All that a sector was since the last sync.
  private var unsynced: [Int: [[UInt8]]] = [:]
  /// All lengths since the last sync.
  private var lengths: [Int] = []
  /// Whether a sync of this file has said that it was done, and was not.
  private(set) var isOwed = false
  /// Whether what it had lied about was lost by one that failed: no later one makes it true.
  private var isLost = false

  init(_ bytes: [UInt8] = []) {
    self.bytes = bytes
    durable = bytes
  }

  mutating func write(_ more: ArraySlice<UInt8>, at offset: Int) {
    guard !more.isEmpty else { return }
    if offset > bytes.count {
      bytes += [UInt8](repeating: 0, count: offset - bytes.count)
    }
    let end = min(offset + more.count, bytes.count)
    bytes.replaceSubrange(offset..<end, with: more)
    lengths.append(bytes.count)
    let last = (offset + more.count - 1) / Self.sectorByteCount
    for sector in offset / Self.sectorByteCount...last { note(sector) }
  }

  mutating func truncate(to byteCount: Int) {
    guard byteCount < bytes.count else { return }
    bytes.removeSubrange(byteCount...)
    lengths.append(byteCount)
    if byteCount % Self.sectorByteCount != 0 { note(byteCount / Self.sectorByteCount) }
  }

  private mutating func note(_ sector: Int) {
    let start = sector * Self.sectorByteCount
    let end = min(start + Self.sectorByteCount, bytes.count)
    unsynced[sector, default: []].append(Array(bytes[start..<end]))
  }

  /// Puts on the disk what was written since the last sync, and nothing else: what
  /// an earlier sync has lost stays lost.
  mutating func synchronize() {
    durable = Self.resized(durable, to: bytes.count)
    for (sector, versions) in unsynced {
      guard let last = versions.last else { continue }
      Self.put(last, at: sector, in: &durable)
    }
    settle()
    isOwed = isLost
  }

  /// Says that it is done, and does nothing.
  mutating func owe() {
    if !unsynced.isEmpty || !lengths.isEmpty { isOwed = true }
  }

  /// A part of it reaches the disk, and the system takes all of it for written.
  mutating func failToSynchronize(_ random: inout SeededGenerator) {
    durable = remains(&random)
    settle()
    isLost = isOwed
  }

  /// Leaves what is on the disk, and of the rest whatever had reached it.
  mutating func cutPower(_ random: inout SeededGenerator) {
    durable = remains(&random)
    bytes = durable
    settle()
    (isOwed, isLost) = (false, false)
  }

  /// Leaves what is on the disk, and zeros behind it up to the length of before, or nothing.
  mutating func cutPower(keepingLength: Bool) {
    if keepingLength, !lengths.isEmpty { durable = Self.resized(durable, to: bytes.count) }
    bytes = durable
    settle()
    (isOwed, isLost) = (false, false)
  }

  private mutating func settle() {
    (unsynced, lengths) = ([:], [])
  }

  private func remains(_ random: inout SeededGenerator) -> [UInt8] {
    let all = lengths.isEmpty ? durable.count : bytes.count
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return durable
    case 1: return mixed(all, &random) { versions, _, _ in versions.count - 1 }
    // The length without the data.
    case 2: return mixed(all, &random) { _, _, _ in -1 }
    default:
      let length = ([durable.count] + lengths).randomElement(using: &random) ?? all
      return mixed(length, &random) { versions, isNew, random in
        // Before any of them, after any of them, and of a new one what lay there.
        Int.random(in: (isNew ? -2 : -1)..<versions.count, using: &random)
      }
    }
  }

  private func mixed(
    _ length: Int, _ random: inout SeededGenerator,
    _ choose: (_ versions: [[UInt8]], _ isNew: Bool, inout SeededGenerator) -> Int
  ) -> [UInt8] {
    var mixed = Self.resized(durable, to: length)
    for (sector, versions) in unsynced.sorted(by: { $0.key < $1.key })
    where sector * Self.sectorByteCount < length {
      let choice = choose(versions, sector * Self.sectorByteCount >= durable.count, &random)
      switch choice {
      case -2:
        let stale = (0..<Self.sectorByteCount).map { _ in UInt8.random(in: 0...255, using: &random)
        }
        Self.put(stale, at: sector, in: &mixed)
      case -1: break
      default: Self.put(versions[choice], at: sector, in: &mixed)
      }
    }
    return mixed
  }

  /// What is after the end is zero.
  private static func resized(_ bytes: [UInt8], to length: Int) -> [UInt8] {
    guard bytes.count < length else { return Array(bytes.prefix(length)) }
    return bytes + [UInt8](repeating: 0, count: length - bytes.count)
  }

  private static func put(_ content: [UInt8], at sector: Int, in bytes: inout [UInt8]) {
    let start = sector * sectorByteCount
    let end = min(start + sectorByteCount, bytes.count)
    guard start < end else { return }
    bytes.replaceSubrange(start..<end, with: resized(content, to: end - start))
  }
}
