#if canImport(Security)
public import ArchiveCodec
internal import Foundation
internal import Security

/// The key as an item of the user's keychain, for apps on Apple systems.
///
/// The item is a generic password with the application as its service. It can be read
/// from the first unlock of the device after a restart on; before that the key is locked.
/// It moves to another device with an encrypted backup, as the states of the app do.
///
///     let keeper = try StateKeeper(
///       application: "org.example.notes",
///       keys: KeychainKeyProvider(application: "org.example.notes"))
///
/// On a Mac the item is in the data protection keychain, for which the app must be
/// signed with an application identifier. Otherwise the key is not available.
///
/// - Important: No test of this package has run on an Apple system.
public struct KeychainKeyProvider: KeyProvider {
  /// The identifier of the application that the key belongs to.
  public let application: String

  /// Creates a provider of an application's key, which need not exist.
  ///
  /// - Parameter application: The identifier of the application.
  public init(application: String) {
    self.application = application
  }

  /// The name of the item.
  public var location: String? { "the keychain, for \(application)" }

  /// Finds the key, or makes it.
  ///
  /// - Parameter creating: Whether to make and keep a new key if there is none.
  /// - Returns: The key, or nil if there is none and none was to be made.
  /// - Throws: ``/ArchiveCodec/ArchiveError``: `keyLocked` before the first unlock,
  ///   `keyDamaged` if the item is not 32 bytes (the item is never replaced), and
  ///   `keyUnavailable` with the status of the keychain.
  public func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? {
    do throws(ArchiveError) {
      if let key = try storedKey() { return key }
      guard creating else { return nil }
      try add(try ArchiveKey())
      // Another process may have added its key first; then its key counts.
      return try storedKey()
    } catch {
      throw error.located(at: location ?? application)
    }
  }

  private var item: [CFString: Any] {
    [
      kSecClass: kSecClassGenericPassword,
      kSecAttrService: application,
      kSecAttrAccount: "RestorationKit",
      kSecUseDataProtectionKeychain: true,
    ]
  }

  private func storedKey() throws(ArchiveError) -> ArchiveKey? {
    var query = item
    query[kSecMatchLimit] = kSecMatchLimitOne
    query[kSecReturnData] = true
    var result: CFTypeRef?
    let status = unsafe SecItemCopyMatching(query as CFDictionary, &result)
    guard status != errSecItemNotFound else { return nil }
    try check(status)
    guard let data = result as? NSData else { throw ArchiveError(.keyDamaged) }
    // Nobody else has the data, so the key can wipe the data in place.
    return try unsafe ArchiveKey(
      moving: UnsafeMutableRawBufferPointer(
        start: UnsafeMutableRawPointer(mutating: data.bytes), count: data.length))
  }

  /// Adds an item; an item that is there stays.
  private func add(_ key: ArchiveKey) throws(ArchiveError) {
    let status = unsafe key.withBytes { bytes in
      var item = item
      item[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlock
      // Lends the bytes: a copy of the key would not be wiped.
      item[kSecValueData] = unsafe CFDataCreateWithBytesNoCopy(
        nil, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, kCFAllocatorNull)
      return unsafe SecItemAdd(item as CFDictionary, nil)
    }
    if status != errSecDuplicateItem { try check(status) }
  }

  private func check(_ status: OSStatus) throws(ArchiveError) {
    switch status {
    case errSecSuccess: return
    case errSecInteractionNotAllowed: throw .keyLocked()
    default: throw ArchiveError(.keyUnavailable, subject: "status \(status)")
    }
  }
}
#endif
