/// Values of elements by their slots, most of which are all alike.
///
/// A table of a whole document has a place for each slot; one of the few elements that come late has none, so that
/// it costs what these do.
struct SlotTable<Value> {
  private let common: Value
  private var all: [Value]
  private var few: [Int32: Value] = [:]

  /// A table in which the slots below a count have places.
  init(_ common: Value, placeCount: Int) {
    self.common = common
    all = Array(repeating: common, count: placeCount)
  }

  @inline(__always)
  subscript(slot: Int32) -> Value {
    get { Int(slot) < all.count ? all[Int(slot)] : few[slot] ?? common }
    _modify {
      if Int(slot) < all.count {
        yield &all[Int(slot)]
      } else {
        let common = common
        yield &few[slot, default: common]
      }
    }
  }
}
