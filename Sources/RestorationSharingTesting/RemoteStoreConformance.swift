public import RestorationSharing
internal import RestorationTesting

typealias StoreCheck = AsyncConformanceCheck<any RemoteStateStore>

/// The promises of ``/RestorationSharing/RemoteStateStore``, as checks for one of your own.
///
/// A place is an empty store, and each time it is opened stands for another machine. The
/// checks cannot show what is left after the store itself was killed, and they do not
/// look for errors of a store that cannot be reached.
public enum RemoteStoreConformance: Sendable {
  /// The promises of every store.
  public static let checks: [AsyncConformanceCheck<any RemoteStateStore>] =
    storing + appending + removing + naming + sharing

  /// The promises of a store that tells of changes.
  ///
  /// A change may be told late or not at all, so the checks write several times and
  /// wait for up to a second each time. Do not run them on a store that leaves
  /// `changes()` to its default.
  public static let changesChecks: [AsyncConformanceCheck<any RemoteStateStore>] = telling
}

/// The name that most checks use.
let checkedName = "main"

/// One place, as eight machines open it.
func openEight(
  _ open: () async throws -> any RemoteStateStore
) async throws -> [any RemoteStateStore] {
  var stores: [any RemoteStateStore] = []
  for _ in 0..<8 { stores.append(try await open()) }
  return stores
}

/// The calls of the checks.
extension RemoteStateStore {
  /// Stores bytes where nothing is stored.
  func store(_ bytes: [UInt8], as name: String = checkedName) async throws -> RemoteVersion {
    try require(
      try await replace(name, with: bytes, expecting: nil),
      "Where nothing was stored, replace was refused.")
  }

  /// Replaces the stored bytes, which must not be refused.
  func update(
    _ version: RemoteVersion, of name: String = checkedName, with bytes: [UInt8]
  ) async throws -> RemoteVersion {
    try require(
      try await replace(name, with: bytes, expecting: version),
      "With the stored version, replace was refused.")
  }

  /// Appends to the stored bytes, which must not be refused.
  func extend(
    _ version: RemoteVersion, of name: String = checkedName, by bytes: [UInt8]
  ) async throws -> RemoteVersion {
    try require(
      try await append(bytes, to: name, expecting: version),
      "With the stored version, append was refused.")
  }

  /// Removes the stored bytes, which must not be refused.
  func clear(_ version: RemoteVersion, of name: String = checkedName) async throws {
    let isRemoved = try await remove(name, expecting: version)
    try expect(isRemoved, "With the stored version, remove was refused.")
  }

  /// Ends the check if other bytes are stored under the name.
  func expectStored(
    _ bytes: [UInt8]?, at version: RemoteVersion? = nil, as name: String = checkedName,
    _ moment: String
  ) async throws {
    let found = try await load(name)
    try expect(
      found?.bytes == bytes,
      "\(moment) it had \(describe(found?.bytes)) and not \(describe(bytes)).")
    if let version, let found {
      try expect(
        found.version == version,
        "\(moment) it had the version \(found.version) and not \(version).")
    }
  }

  /// Ends the check if any write that expects the version is not refused.
  func expectRefused(
    _ version: RemoteVersion, of name: String = checkedName, _ moment: String
  ) async throws {
    let bytes = [UInt8].sample(99)
    let replaced = try await replace(name, with: bytes, expecting: version)
    try expect(replaced == nil, "\(moment) replace was not refused.")
    let appended = try await append(bytes, to: name, expecting: version)
    try expect(appended == nil, "\(moment) append was not refused.")
    let isRemoved = try await remove(name, expecting: version)
    try expect(!isRemoved, "\(moment) remove was not refused.")
  }
}
