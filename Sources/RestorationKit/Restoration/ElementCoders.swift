/// The coders of the elements of a restore.
///
/// One coder is given to one element after the other. If a hook keeps the coder, a new one is
/// made for the next call.
struct ElementCoders {
  private let make: () -> StateDecoder
  /// Nil while an element uses the coder, so that a second reference shows that a hook has kept it.
  private var common: StateDecoder?
  /// The first keys that each element asked the common coder for, by index; `otherRead` has the
  /// keys of elements that asked for more.
  private var readPlaces: [UInt64]
  private var otherRead: [Int: ReadKeys] = [:]
  private var isReadWhole: [Bool]

  init(count: Int, _ make: @escaping () -> StateDecoder) {
    self.make = make
    readPlaces = Array(repeating: 0, count: count)
    isReadWhole = Array(repeating: false, count: count)
  }

  /// Takes out the coder of an element, for one call.
  mutating func take(_ index: Int) -> StateDecoder {
    let coder = common.take() ?? make()
    coder.open(index, readPlaces[index])
    if !otherRead.isEmpty, let read = otherRead[index] { coder.read = read }
    return coder
  }

  /// Puts back the coder of an element; the caller must not have it any more.
  mutating func putBack(_ coder: consuming StateDecoder, _ index: Int) {
    if coder.hasReadAll { isReadWhole[index] = true }
    readPlaces[index] = coder.readPlaces
    if !coder.hasReadPlacesOnly { otherRead[index] = coder.read }
    common = consume coder
    if !isKnownUniquelyReferenced(&common) { common = nil }
  }

  /// The keys of an element that nobody asked for; nil if there are none.
  mutating func unreadNote(_ index: Int) -> ReportNote? {
    // Most elements are read whole, and need no coder again.
    if isReadWhole[index] { return nil }
    let coder = take(index)
    let note = coder.unreadNote
    putBack(coder, index)
    return note
  }
}
