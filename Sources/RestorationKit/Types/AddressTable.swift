/// A number for each of some addresses, of objects or of types.
///
/// Addresses are not input that somebody chooses, so they need no keyed hash:
/// open addressing finds one in a fifth of the time that a Dictionary takes
/// (benchmark: save nodes).
struct AddressTable {
  private struct Slot {
    /// 0 in an empty slot.
    var address: UInt
    var number: Int
  }

  private var slots: [Slot]
  private(set) var count = 0
  /// The slot of the address that was looked up last; the address is 0 if the table has changed
  /// since.
  private var found: (address: UInt, index: Int) = (0, 0)
  /// A guess at the number of the next object, since objects come in the order of the walk before.
  var likely = 0

  /// Makes room for as many addresses at least.
  init(minimumCapacity: Int = 8) {
    let exponent = Int.bitWidth - (max(minimumCapacity, 8) * 2 - 1).leadingZeroBitCount
    slots = Array(repeating: Slot(address: 0, number: 0), count: 1 << exponent)
  }

  private static func address(of identity: ObjectIdentifier) -> UInt {
    UInt(bitPattern: identity)
  }

  /// The number of an object or a type; nil if it has none.
  subscript(identity: ObjectIdentifier) -> Int? {
    let address = Self.address(of: identity)
    let slot = slots[index(of: address)]
    return slot.address == address ? slot.number : nil
  }

  /// The number of an object or a type, nil if it has none; a `set` that follows finds the slot
  /// without another search.
  @inline(__always)
  mutating func find(_ identity: ObjectIdentifier) -> Int? {
    let address = Self.address(of: identity)
    if found.address != address { found = (address, index(of: address)) }
    let slot = slots[found.index]
    return slot.address == address ? slot.number : nil
  }

  /// Gives an object or a type a number, instead of the one that it had.
  mutating func set(_ number: Int, for identity: ObjectIdentifier) {
    let address = Self.address(of: identity)
    let index = found.address == address ? found.index : index(of: address)
    found = (0, 0)
    if slots[index].address == 0 { count += 1 }
    slots[index] = Slot(address: address, number: number)
    if count > slots.count / 2 { grow() }
  }

  /// Forgets an object or a type; one that has no number is not an error.
  mutating func remove(_ identity: ObjectIdentifier) {
    var free = index(of: Self.address(of: identity))
    guard slots[free].address != 0 else { return }
    found = (0, 0)
    count -= 1
    // An address that lies behind the free slot because that slot was taken moves up.
    var next = free
    let mask = slots.count - 1
    while true {
      next = (next + 1) & mask
      guard slots[next].address != 0 else { break }
      let first = Self.firstPlace(of: slots[next].address) & mask
      guard (next - first) & mask >= (next - free) & mask else { continue }
      slots[free] = slots[next]
      free = next
    }
    slots[free].address = 0
  }

  @inline(__always)
  private static func firstPlace(of address: UInt) -> Int {
    // The low bits of an address are zero because of its alignment, so higher bits of the product
    // count.
    Int(truncatingIfNeeded: (address &* 0x9e37_79b9_7f4a_7c15) >> 20)
  }

  /// The slot of an address, or the slot that the address would get.
  @inline(__always)
  private func index(of address: UInt) -> Int {
    let mask = slots.count - 1
    var index = Self.firstPlace(of: address) & mask
    while slots[index].address != address, slots[index].address != 0 {
      index = (index + 1) & mask
    }
    return index
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: Slot(address: 0, number: 0), count: old.count * 4)
    for slot in old where slot.address != 0 { slots[index(of: slot.address)] = slot }
  }
}
