extension Sequence {
  /// The elements in the order that `sorted(by:)` gives them.
  ///
  /// For each type of elements and each condition that makes 3 KB of code; this method sorts their places, with the
  /// code that is there for integers, and takes longer.
  package func ordered(by isBefore: (Element, Element) -> Bool) -> [Element] {
    let elements = Array(self)
    return orderedPlaces(elements.count) { isBefore(elements[$0], elements[$1]) }
      .map { elements[$0] }
  }
}

private func orderedPlaces(_ count: Int, _ isBefore: (Int, Int) -> Bool) -> [Int] {
  (0..<count).sorted(by: isBefore)
}
