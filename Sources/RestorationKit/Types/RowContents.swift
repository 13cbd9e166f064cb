/// The contained nodes and views of all rows.
///
/// The nodes of one row lie next to each other, and so do its views.
struct RowContents {
  private var numbers: [RowNumber] = []
  /// How many of the numbers belong to no row any more.
  private var unusedCount = 0

  var end: Int32 { Int32(numbers.count) }

  /// Whether most of the memory is that of contents that no row has any more.
  var isSparse: Bool { unusedCount > 1024 && unusedCount > numbers.count / 2 }

  subscript(range: Range<Int32>) -> ArraySlice<RowNumber> {
    numbers[Int(range.lowerBound)..<Int(range.upperBound)]
  }

  /// Begins new contents of a row, which has its former ones no more.
  mutating func begin(insteadOf before: Range<Int32>) -> Range<Int32> {
    forget(before)
    return end..<end
  }

  mutating func forget(_ range: Range<Int32>) { unusedCount += range.count }

  @inline(__always)
  mutating func append(_ number: RowNumber) { numbers.append(number) }

  mutating func append(_ others: ArraySlice<RowNumber>) -> Range<Int32> {
    let start = end
    numbers.append(contentsOf: others)
    return start..<end
  }
}
