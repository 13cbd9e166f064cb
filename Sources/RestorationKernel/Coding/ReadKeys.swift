internal import ArchiveCodec

/// Which keys of a record were asked for.
struct ReadKeys {
  /// A bit for each of the first 64 keys of the record, in stored order.
  private(set) var places: UInt64
  private var others: Set<String> = []
  private var containers: [String: ReadContainer] = [:]

  /// - Parameter places: A bit for each of the first 64 keys that was asked for.
  init(places: UInt64 = 0) {
    self.places = places
  }

  /// Notes a key of the record; the place counts its keys in stored order.
  @inline(__always)
  mutating func insert(_ key: String, at place: Int) {
    if place < UInt64.bitWidth { places |= 1 << place } else { others.insert(key) }
  }

  /// Begins anew with the keys that the bits stand for.
  @inline(__always)
  mutating func reset(places: UInt64) {
    if !isPlain { (others, containers) = ([], [:]) }
    self.places = places
  }

  /// Whether no key beyond the first 64 and no container was asked for.
  var isPlain: Bool { others.isEmpty && containers.isEmpty }

  /// The keys that are asked for in a container; every coder that opens it notes its own there.
  mutating func container(forKey key: String, _ values: KeyedDecoder) -> ReadContainer {
    if let known = containers[key] { return known }
    let container = ReadContainer(values)
    containers[key] = container
    return container
  }

  /// The stored keys that were not asked for, in stored order; then those of the opened
  /// containers, each after the key of its container and a dot.
  ///
  /// - Complexity: O(1) if all of up to 64 keys were read, as is usual; otherwise O(*n*
  ///   log *n*) in the keys.
  func missing(in values: KeyedDecoder) -> [String] {
    var missing: [String] = []
    if places.nonzeroBitCount < values.keyCount {
      missing = values.keys.enumerated().compactMap { place, key in
        let isRead = place < UInt64.bitWidth && places & 1 << place != 0 || others.contains(key)
        return isRead ? nil : key
      }
    }
    guard !containers.isEmpty else { return missing }
    // The recursion is only as deep as the app's own calls were.
    for (key, container) in containers.sorted(by: { $0.key < $1.key }) {
      missing += container.keys.missing(in: container.values).map { "\(key).\($0)" }
    }
    return missing
  }
}

/// The keys of a container that were asked for.
final class ReadContainer {
  let values: KeyedDecoder
  var keys = ReadKeys()

  init(_ values: KeyedDecoder) {
    self.values = values
  }
}
