internal import ArchiveCodec

/// Which keys of a record were asked for.
struct ReadKeys {
  /// By place in the record, for those that have one of the first places.
  private(set) var places: UInt64
  private var others: Set<String> = []
  private var containers: [String: ReadContainer] = [:]

  /// - Parameter places: A bit for each of the first places.
  init(places: UInt64 = 0) {
    self.places = places
  }

  /// Notes a key that is there, at a place among all keys in stored order.
  @inline(__always)
  mutating func insert(_ key: String, at place: Int) {
    if place < UInt64.bitWidth { places |= 1 << place } else { others.insert(key) }
  }

  /// Begins anew with some that have one of the first places.
  @inline(__always)
  mutating func reset(places: UInt64) {
    if !isPlain { (others, containers) = ([], [:]) }
    self.places = places
  }

  /// Whether there are no others than those at the first places.
  var isPlain: Bool { others.isEmpty && containers.isEmpty }

  /// What is asked for in a container, by all who open it.
  mutating func container(forKey key: String, _ values: KeyedDecoder) -> ReadContainer {
    if let known = containers[key] { return known }
    let container = ReadContainer(values)
    containers[key] = container
    return container
  }

  /// The keys that nobody asked for, in stored order; then those in containers,
  /// with the keys that lead there and dots.
  ///
  /// - Complexity: O(1) if all of up to 64 were read, as is usual; otherwise
  ///   O(*n* log *n*) in the keys.
  func missing(in values: KeyedDecoder) -> [String] {
    var missing: [String] = []
    if places.nonzeroBitCount < values.keyCount {
      missing = values.keys.enumerated().compactMap { place, key in
        let isRead = place < UInt64.bitWidth && places & 1 << place != 0 || others.contains(key)
        return isRead ? nil : key
      }
    }
    guard !containers.isEmpty else { return missing }
    // As deep as the app's own calls were.
    for (key, container) in containers.sorted(by: { $0.key < $1.key }) {
      missing += container.keys.missing(in: container.values).map { "\(key).\($0)" }
    }
    return missing
  }
}

/// Which keys of a container were asked for.
final class ReadContainer {
  let values: KeyedDecoder
  var keys = ReadKeys()

  init(_ values: KeyedDecoder) {
    self.values = values
  }
}
