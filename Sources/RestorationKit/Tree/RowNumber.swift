/// The number of an element of a state; the number of its record is larger by a constant.
struct RowNumber: Hashable {
  private let number: Int32

  init(_ index: Int) {
    number = Int32(index)
  }

  var index: Int { Int(number) }

  var record: UInt64 { UInt64(number) + NodeRecord.firstNode }
}
