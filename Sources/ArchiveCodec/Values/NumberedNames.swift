/// Names in the order of their numbers, which are found by a table of places.
///
/// For a dictionary the system looks for the way to hash its keys, once in a process for each type of
/// keys. For this type that took a sixth of opening the first archive of a process.
struct NumberedNames: Sendable {
  private(set) var names: [String] = []
  private var byteCount = 0
  /// Each number plus one, at the first place that was free from that of its name on; at least half
  /// of the places have a zero.
  private var places: [UInt32] = []

  subscript(name: String) -> UInt32? {
    guard !names.isEmpty else { return nil }
    let found = places[place(of: name)]
    return found == 0 ? nil : found - 1
  }

  /// Gives a name the next number; false if it has one, or if there are too many.
  mutating func append(_ name: String, limits: ArchiveLimits) -> Bool {
    let total = byteCount + name.utf8.count
    guard names.count < limits.symbolCount, total <= limits.symbolByteCount else { return false }
    if names.count * 2 >= places.count { grow() }
    let place = place(of: name)
    guard places[place] == 0 else { return false }
    names.append(name)
    places[place] = UInt32(names.count)
    byteCount = total
    return true
  }

  /// Removes the newest names; no other name has passed their places.
  mutating func truncate(to count: Int) {
    while names.count > count, let name = names.last {
      places[place(of: name)] = 0
      byteCount -= name.utf8.count
      names.removeLast()
    }
  }

  /// The place with the number of a name, or the free one where the number would be.
  ///
  /// The hash depends on a secret of the process, so no choice of names makes them collide.
  private func place(of name: String) -> Int {
    var place = ByteName(name).hashValue & (places.count - 1)
    while places[place] > 0, !names[Int(places[place]) - 1].hasSameBytes(as: name) {
      place = (place + 1) & (places.count - 1)
    }
    return place
  }

  private mutating func grow() {
    places = Array(repeating: 0, count: max(16, places.count * 2))
    for (number, name) in names.enumerated() { places[place(of: name)] = UInt32(number + 1) }
  }
}
