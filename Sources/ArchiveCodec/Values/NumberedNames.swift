/// Names in the order of their numbers, which are found by a table of places.
///
/// For a dictionary the system looks for the way to hash its keys, once in a process for each type of
/// keys. For this type that took a sixth of opening the first archive of a process.
struct NumberedNames: Sendable {
  private(set) var names: [String] = []
  private(set) var byteCount = 0
  /// Each number plus one, at the first place that was free from that of its name on; at least half
  /// of the places have a zero.
  private var places: [UInt32] = []

  /// The hash depends on a secret of the process, so no choice of names makes them collide.
  static func hash(_ name: String) -> Int { ByteName(name).hashValue }

  /// The number of a name with its hash; nil if it has none.
  func number(of name: String, _ hash: Int) -> UInt32? {
    guard !names.isEmpty else { return nil }
    let found = places[place(of: name, hash)]
    return found == 0 ? nil : found - 1
  }

  /// Gives a name with its hash the next number; false if it has one, or if there are too many.
  mutating func append(_ name: String, _ hash: Int, limits: ArchiveLimits) -> Bool {
    let total = byteCount + name.utf8.count
    guard names.count < limits.symbolCount, total <= limits.symbolByteCount else { return false }
    if names.count * 2 >= places.count { makePlaces(for: places.count) }
    let place = place(of: name, hash)
    guard places[place] == 0 else { return false }
    names.append(name)
    places[place] = UInt32(names.count)
    byteCount = total
    return true
  }

  /// Makes room for more names at once.
  mutating func reserve(_ count: Int) {
    if (names.count + count) * 2 > places.count { makePlaces(for: names.count + count) }
  }

  /// Removes the newest names; no other name has passed their places.
  mutating func truncate(to count: Int) {
    while names.count > count, let name = names.last {
      places[place(of: name, Self.hash(name))] = 0
      byteCount -= name.utf8.count
      names.removeLast()
    }
  }

  /// The place with the number of a name, or the free one where the number would be.
  private func place(of name: String, _ hash: Int) -> Int {
    var place = hash & (places.count - 1)
    while places[place] > 0, !names[Int(places[place]) - 1].hasSameBytes(as: name) {
      place = (place + 1) & (places.count - 1)
    }
    return place
  }

  /// Makes places for as many names, twice as many as these or more, and room for the names.
  private mutating func makePlaces(for count: Int) {
    var placeCount = 16
    while placeCount < count * 2 { placeCount *= 2 }
    names.reserveCapacity(placeCount / 2)
    places = Array(repeatElement(0, count: placeCount))
    for (number, name) in names.enumerated() {
      places[place(of: name, Self.hash(name))] = UInt32(number + 1)
    }
  }
}
