/// A place for each of some records, by their numbers.
///
/// Records that this library writes are numbered from 1 on, so most places lie in an
/// array. Any other numbers go into a dictionary, so memory stays in proportion to the
/// number of records.
package struct RecordPlaces: Sendable {
  private var dense: [Int32]
  private var sparse: [UInt64: Int32] = [:]
  private static let none: Int32 = -1

  /// Begins without a place.
  ///
  /// - Parameter count: About how many records there will be.
  package init(count: Int) {
    dense = Array(repeating: Self.none, count: count + Int(NodeRecord.firstNode))
  }

  /// The place of a record; nil if it has none.
  package subscript(record: UInt64) -> Int? {
    get {
      guard record < UInt64(dense.count) else { return sparse[record].map { Int($0) } }
      let place = dense[Int(record)]
      return place == Self.none ? nil : Int(place)
    }
    set {
      let place = newValue.map { Int32($0) }
      if record < UInt64(dense.count) {
        dense[Int(record)] = place ?? Self.none
      } else {
        sparse[record] = place
      }
    }
  }
}
