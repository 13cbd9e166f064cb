internal import RestorationKit
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The facts about many elements, in arrays: an object for each would take more memory
/// than its facts.
///
/// An element is a place in the order in which its record was read.
struct OutlineRows: Sendable {
  /// The facts that many elements share.
  struct Form: Hashable, Sendable {
    let className: String
    let restorationClassName: String?
    let version: Int
  }

  /// The yes-or-no facts of an element, its kind and its role, in bits.
  struct Flags: OptionSet, Sendable {
    let rawValue: UInt16

    static let isView = Flags(rawValue: 1)
    static let isObject = Flags(rawValue: 1 << 1)
    static let hasLastState = Flags(rawValue: 1 << 2)
    static let hasViews = Flags(rawValue: 1 << 3)
    static let hasPresented = Flags(rawValue: 1 << 4)
    static let hasReferrer = Flags(rawValue: 1 << 5)
    static let isKept = Flags(rawValue: 1 << 6)
    static let isPlaced = Flags(rawValue: 1 << 7)

    private static let roleBit = UInt16(9)
    private static let roles: [StoredState.Role] = [
      .unplaced, .root, .child, .view, .presented, .referred,
    ]

    var role: StoredState.Role {
      get { Self.roles[min(Int(rawValue >> Self.roleBit), Self.roles.count - 1)] }
      set {
        let number = UInt16(Self.roles.firstIndex(of: newValue) ?? 0)
        self = Flags(rawValue: rawValue & (1 << Self.roleBit - 1) | number << Self.roleBit)
      }
    }

    var kind: ElementKind {
      if contains(.isView) { return .view }
      return contains(.isObject) ? .object : .node
    }
  }

  var records = RecordNumbers()
  var forms: [Form] = []
  var formNumbers: [UInt32] = []
  var byteCounts: [UInt32] = []
  var flags: [Flags] = []
  var names = NameBlocks()
  /// The sibling indices; empty as long as all are 0.
  var siblingIndices: [Int32] = []
  var keptSince: [UInt32: Date] = [:]
  /// The indices of the elements in the order of the tree.
  var order: [UInt32] = []
  /// The indices of the parents; less than 0 for an element without one.
  var parents: [Int32] = []
  /// The indices in the order of their records; empty if both orders are the same.
  var byRecord: [UInt32] = []

  var count: Int { flags.count }

  func identifier(of index: Int) -> String { names[index] }

  func siblingIndex(of index: Int) -> Int {
    index < siblingIndices.count ? Int(siblingIndices[index]) : 0
  }

  func parent(of index: Int) -> Int? { parents[index] < 0 ? nil : Int(parents[index]) }

  func index(of record: UInt64) -> Int? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      let index = byRecord.isEmpty ? middle : Int(byRecord[middle])
      let found = records[index]
      if found == record { return index }
      if found < record { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  func element(at index: Int, _ path: RestorationPath) -> StoredState.Element {
    let form = forms[Int(formNumbers[index])]
    return StoredState.Element(
      record: records[index], kind: flags[index].kind, role: flags[index].role, path: path,
      className: form.className, restorationClassName: form.restorationClassName,
      version: form.version, byteCount: Int(byteCounts[index]),
      keptSince: flags[index].contains(.isKept) ? keptSince[UInt32(index)] : nil,
      hasLastState: flags[index].contains(.hasLastState))
  }
}

/// Numbers of records, in four bytes each as long as all fit, as they nearly always do.
struct RecordNumbers: Sendable {
  private var narrow: [UInt32] = []
  private var wide: [UInt64] = []

  var count: Int { wide.isEmpty ? narrow.count : wide.count }

  subscript(index: Int) -> UInt64 { wide.isEmpty ? UInt64(narrow[index]) : wide[index] }

  mutating func reserveCapacity(_ count: Int) { narrow.reserveCapacity(count) }

  mutating func append(_ record: UInt64) {
    if wide.isEmpty {
      if let record = UInt32(exactly: record) { return narrow.append(record) }
      wide = narrow.map { UInt64($0) }
      narrow = []
    }
    wide.append(record)
  }
}

/// Short texts in blocks of bytes, so that growing moves no text.
struct NameBlocks: Sendable {
  private var blocks: [[UInt8]] = []
  /// The number of the block and the offset in it, in one number.
  private var starts: [UInt32] = []
  private var byteCounts: [UInt16] = []

  private static let blockByteCount = 1 << 20

  subscript(index: Int) -> String {
    let start = Int(starts[index])
    let offset = start % Self.blockByteCount
    let bytes = blocks[start / Self.blockByteCount][offset..<offset + Int(byteCounts[index])]
    return String(decoding: bytes, as: UTF8.self)
  }

  mutating func reserveCapacity(_ count: Int) {
    starts.reserveCapacity(count)
    byteCounts.reserveCapacity(count)
  }

  /// Appends a text of less than 64 KiB; false if there was no room for it.
  mutating func append(_ name: String) -> Bool {
    let utf8 = name.utf8
    guard let byteCount = UInt16(exactly: utf8.count) else { return false }
    if (blocks.last?.count ?? Self.blockByteCount) + utf8.count > Self.blockByteCount {
      guard blocks.count < 1 << 12 else { return false }
      var block: [UInt8] = []
      block.reserveCapacity(Self.blockByteCount)
      blocks.append(block)
    }
    let last = blocks.count - 1
    starts.append(UInt32(last * Self.blockByteCount + blocks[last].count))
    byteCounts.append(byteCount)
    blocks[last] += utf8
    return true
  }
}
