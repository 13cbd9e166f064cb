/// The coders of the elements of a restore.
///
/// One coder is given to one element after the other. If a hook keeps the coder, it belongs to that
/// element from then on, and a new one is made for the other elements.
struct ElementCoders {
  private let make: () -> StateDecoder
  /// Nil while an element uses the coder, so that a second reference shows that a hook has kept it.
  private var common: StateDecoder?
  private var kept: [Int: StateDecoder] = [:]
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
    if !kept.isEmpty, let coder = kept[index] { return coder }
    let coder = common.take() ?? make()
    coder.open(index, readPlaces[index])
    if !otherRead.isEmpty, let read = otherRead[index] { coder.read = read }
    return coder
  }

  /// Puts back the coder of an element; the caller must not have it any more.
  mutating func putBack(_ coder: consuming StateDecoder, _ index: Int) {
    if !kept.isEmpty, kept[index] != nil { return }
    if coder.hasReadAll { isReadWhole[index] = true }
    readPlaces[index] = coder.readPlaces
    if !coder.hasReadPlacesOnly { otherRead[index] = coder.read }
    common = consume coder
    if !isKnownUniquelyReferenced(&common), let coder = common.take() {
      coder.stay()
      kept[index] = coder
    }
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
