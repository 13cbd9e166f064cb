package import ArchiveCodec

/// The elements of a stored tree in their order, and those that a restore leaves out.
package struct PlacedRecords: Sendable {
  /// The elements in their order.
  package let outline: StoredOutline
  /// The records of elements with the path of an earlier one.
  package let duplicates: [UInt64]
  /// The records of elements that no placed element names, in the order of the archive.
  package let strays: [UInt64]

  /// Why a restore leaves out a duplicate.
  package static let duplicateError = ArchiveError(.malformed, subject: "two nodes of one path")
  /// Why a restore leaves out a stray.
  package static let strayError = ArchiveError(.malformed, subject: "not in the tree")
}
