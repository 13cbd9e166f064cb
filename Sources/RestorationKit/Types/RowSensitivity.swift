#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The values with a sensitivity in the record of one row, as far as saves must know them.
struct RowSensitivity {
  /// When the first of the values ends; nil if none does.
  var end: Date?
  /// The subkeys of the secrets.
  var subkeys: [UInt64] = []
  /// The ages of values that end, or have ended.
  var ages: ValueAges.Values?
  /// The object that encoded the values: another one, which is at the same address, may have the
  /// row by now.
  weak var object: AnyObject?
  /// Whether the values are kept as they were stored, and no object has encoded them.
  var isKept = false
}
