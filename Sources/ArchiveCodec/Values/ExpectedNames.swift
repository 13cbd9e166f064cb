/// The names of an archive by symbol, each with the name that came after it.
///
/// Records of one kind repeat their keys in order, so the name that followed the last
/// one before is compared first: that is four times as fast as hashing. The class
/// allocates its own memory, because arrays in a class cost checks for each key
/// (benchmark: encode and seal keyed records).
@safe final class ExpectedNames {
  private struct Slot {
    /// The bits of the name's string, which stay valid as long as the slot has the name.
    let representation: (UInt64, UInt64)
    let name: String
    /// The symbol that came after this one the last time.
    var follower: UInt32
  }

  /// Memory for `capacity` slots, of which the first `count` are there.
  private var slots = UnsafeMutablePointer<Slot>.allocate(capacity: 0)
  private var capacity = 0
  private(set) var count = 0
  /// The symbol that came last, and the one that is likely to come next.
  private var last = 0
  private var expected = 0

  deinit {
    unsafe slots.deinitialize(count: count)
    unsafe slots.deallocate()
  }

  /// Gives the next symbol to a name, and expects the name that may follow.
  func append(_ name: String) {
    if count == capacity { grow() }
    let slot = Slot(
      representation: name.representation, name: name,
      follower: UInt32(truncatingIfNeeded: count + 1))
    unsafe (slots + count).initialize(to: slot)
    count += 1
  }

  @inline(never)
  private func grow() {
    capacity = max(32, capacity * 2)
    let new = UnsafeMutablePointer<Slot>.allocate(capacity: capacity)
    unsafe new.moveInitialize(from: slots, count: count)
    unsafe slots.deallocate()
    unsafe slots = new
  }

  func truncate(to newCount: Int) {
    precondition(newCount >= 0 && newCount <= count, "more names than there are")
    unsafe (slots + newCount).deinitialize(count: count - newCount)
    count = newCount
  }

  /// The expected symbol, if a short name or literal is its name; then the symbol after
  /// it is expected, unless `use` returns false.
  @inline(__always)
  func next(ifItIs name: String, _ use: (UInt32) -> Bool = { _ in true }) -> UInt32? {
    let next = expected
    guard String.hasRepresentation, next < count else { return nil }
    let slot = unsafe slots + next
    let representation = name.representation
    guard unsafe slot.pointee.representation == representation else { return nil }
    let symbol = UInt32(truncatingIfNeeded: next)
    guard use(symbol) else { return nil }
    last = next
    expected = unsafe Int(slot.pointee.follower)
    return symbol
  }

  /// The expected symbol, if a name of any length, at any address, is its name.
  func next(ifItHasTheBytesOf name: String) -> UInt32? {
    let next = expected
    guard next < count, unsafe slots[next].name.hasSameBytes(as: name) else { return nil }
    last = next
    expected = unsafe Int(slots[next].follower)
    return UInt32(truncatingIfNeeded: next)
  }

  /// Notes the symbol that came instead of the expected one.
  func note(_ symbol: UInt32) {
    precondition(symbol < count, "not the symbol of a name")
    // The last symbol may have been removed again.
    if last < count { unsafe slots[last].follower = symbol }
    last = Int(symbol)
    expected = unsafe Int(slots[last].follower)
  }
}
