/// The bytes of one write to a store: a whole state, a change of it, or a lease.
///
/// The bytes under a name are parcels, one after the other: a whole one, and then changes of
/// it. A parcel is, with numbers of the lowest byte first:
///
///     4 bytes   the letters RKP1
///     1 byte    1 for a whole state, 2 for a change, 3 for a lease
///     1 byte    0
///     16 bytes  the identifier of the parcel, random
///     4 bytes   the number of bytes of what follows
///               the archive; or what was appended to it; or a lease: 16 bytes that tell
///               the process, 8 bytes for its end in milliseconds since 1970, and the
///               owner in UTF-8
///
/// Another digit in place of the 1 says that a later format follows. Software that does
/// not know that format reads nothing there and writes nothing.
///
/// A write may have two parcels, the second of them a lease. A lease that comes before
/// any whole state stands for none.
///
/// A first write is a lease, one that has ended if nobody takes any. The state follows
/// it, and names its version. So a first write that gets to the store late, when the
/// state was discarded, brings nothing back.
///
/// By the identifiers a machine tells its own parcels from those of others. They are
/// not authenticated, and need not be: only the sealed archive is restored.
package struct RemoteParcel: Equatable, Sendable {
  /// Tells a parcel from all others.
  package struct ID: Hashable, Codable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
      (self.high, self.low) = (high, low)
    }

    static func random() -> ID {
      ID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    }
  }

  enum Kind: UInt8 {
    case whole = 1
    case change = 2
    case lease = 3
  }

  static let headerByteCount = 26
  /// In bytes; no parcel has more.
  static let largestArchive = Int(UInt32.max)
  private static let mark = Array("RKP1".utf8)

  let id: ID
  let kind: Kind
  let archive: [UInt8]

  /// The bytes of the parcel.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount)
    bytes += Self.mark
    bytes += [kind.rawValue, 0]
    bytes.append(id.high)
    bytes.append(id.low)
    bytes.append(UInt32(archive.count))
    bytes += archive
    return bytes
  }

  /// Reads the parcel that begins a slice; nil if there is none, or not the whole of it.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count >= Self.headerByteCount, bytes.starts(with: Self.mark) else { return nil }
    var rest = bytes.dropFirst(Self.mark.count)
    guard let kind = Kind(rawValue: rest.removeFirst()), rest.removeFirst() == 0 else { return nil }
    let id = ID(high: rest.takeNumber(), low: rest.takeNumber())
    let archiveCount = Int(rest.takeNumber() as UInt32)
    guard archiveCount <= rest.count else { return nil }
    self.init(id: id, kind: kind, archive: Array(rest.prefix(archiveCount)))
  }

  /// Whether a later version of the software has written the parcel that begins a slice.
  static func isOfLaterFormat(_ bytes: ArraySlice<UInt8>) -> Bool {
    (2...9).contains { bytes.starts(with: "RKP\($0)".utf8) }
  }

  init(id: ID = .random(), kind: Kind, archive: [UInt8]) {
    (self.id, self.kind, self.archive) = (id, kind, archive)
  }

  var byteCount: Int { Self.headerByteCount + archive.count }
}

/// The content of all parcels under a name.
struct RemoteContent: Equatable, Sendable {
  /// The identifiers of the parcels, in order; none if the bytes begin with no parcel.
  var ids: [RemoteParcel.ID] = []
  /// Whether one of the parcels is a whole one.
  var hasState = false
  /// The last lease; nil if there was none.
  var lease: StoredLease?
  var archive: [UInt8] = []
  /// Whether bytes that are no parcel follow the last one.
  ///
  /// The archive ends with them then, and is found damaged, as a file would be.
  var isDamaged = false
  /// Whether a parcel of a later format follows the last one.
  var isNewer = false

  /// Reads the bytes of a store, which may be anything.
  ///
  /// - Complexity: O(*n*).
  init(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while let parcel = RemoteParcel(rest), take(parcel) {
      ids.append(parcel.id)
      rest = rest.dropFirst(parcel.byteCount)
    }
    isDamaged = !rest.isEmpty
    isNewer = RemoteParcel.isOfLaterFormat(rest)
    archive += rest
  }

  /// Adds a parcel; false if it cannot follow the parcels before it.
  private mutating func take(_ parcel: RemoteParcel) -> Bool {
    switch parcel.kind {
    case .whole:
      guard !hasState else { return false }
      (hasState, archive) = (true, parcel.archive)
    case .change:
      guard hasState else { return false }
      archive += parcel.archive
    case .lease:
      guard let lease = StoredLease(parcel.archive) else { return false }
      self.lease = lease
    }
    return true
  }

  /// Whether the content is a place for a state that has not come yet.
  var isPlace: Bool { state == nil && !ids.isEmpty }

  /// The archive; nil if there is none.
  var state: [UInt8]? { archive.isEmpty ? nil : archive }
}

extension [UInt8] {
  /// Adds a number, its lowest byte first.
  mutating func append(_ number: some FixedWidthInteger) {
    for place in 0..<(number.bitWidth / 8) {
      append(UInt8(truncatingIfNeeded: number >> (8 * place)))
    }
  }
}

extension ArraySlice<UInt8> {
  /// Takes a number from the beginning, which must have so many bytes.
  mutating func takeNumber<Number: FixedWidthInteger>() -> Number {
    let count = Number.bitWidth / 8
    defer { removeFirst(count) }
    return prefix(count).reversed().reduce(0) { $0 << 8 | Number($1) }
  }
}
