#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What saves must know of the values with a sensitivity in the record of one row.
struct RowSensitivity {
  /// When the first of them ends.
  var end: Date?
  /// Those of the secrets.
  var subkeys: [UInt64] = []
  /// Those that end, or have ended.
  var ages: ValueAges.Values?
  /// Who encoded them: another may have the row by now, which was at the same address.
  weak var object: AnyObject?
  /// Whether they are kept as they were stored, and nobody has encoded them.
  var isKept = false
}
