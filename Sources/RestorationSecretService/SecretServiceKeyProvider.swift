#if SecretService
public import ArchiveCodec
public import RestorationKit

/// The key as an item of the desktop's keyring, such as GNOME Keyring or KWallet.
///
/// The item is in the default collection of the session's Secret Service, and is
/// found by its schema, `org.restorationkit.Key`, and the attribute `application`.
/// Its secret is the 32 bytes of the key. They go to and from the service
/// encrypted, and are in no array or string.
///
///     let keeper = try StateKeeper(
///       application: "org.example.notes",
///       keys: SecretServiceKeyProvider(application: "org.example.notes"))
///
/// A call waits for the service, on the thread of the caller. Keepers and hosts
/// call it on a thread of their own.
///
/// A program in a sandbox sees another service or none, unless the sandbox lets it
/// talk to `org.freedesktop.secrets`.
///
/// ## Without a service
///
/// Over SSH, in a container or on a server there may be no service. Then the
/// provider throws, and the stored state stays as it is, unless the app gives a
/// ``fallback``: a file for the key of machines without a service. With it,
///
/// - a key in the file is the key, whether there is a service or not. So an app
///   that kept its key in this file goes on with it, and a service that comes later
///   changes nothing;
/// - if there is no such file, a key in the service is the key;
/// - if there is neither, a new key is made in the service, or in the file if there
///   is no service;
/// - a file that is damaged or open to others throws, as without a service.
///
/// No second key is made while the service is away: that the key is in the service
/// is noted in `restoration-keys/APPLICATION.keyring`, where ``/ArchiveCodec/KeyFile`` has its
/// files. With the note and without a service, the provider throws `keyUnavailable`.
/// Delete the note to begin anew with a key in the file.
public struct SecretServiceKeyProvider: KeyProvider {
  /// The identifier of the application whose key it is.
  public let application: String

  /// The file for the key where there is no service; nil to throw there.
  public let fallback: KeyFile?

  /// Whether the user is asked to unlock the keyring, or to make one.
  public let unlocking: Bool

  private let note: ServiceNote

  /// Creates a provider of an application's key, which need not exist.
  ///
  /// - Parameters:
  ///   - application: The identifier of the application.
  ///   - fallback: The file for the key where there is no service.
  ///   - unlocking: Whether the service asks the user for the password of a keyring
  ///     that is locked, or for one of a new keyring if there is none. The call waits
  ///     until the user has answered. Otherwise nobody is asked anything.
  public init(
    application: String, fallback: KeyFile? = nil, unlocking: Bool = false
  ) {
    self.application = application
    self.fallback = fallback
    self.unlocking = unlocking
    note = ServiceNote(application: application)
  }

  /// The name of the item, and the path of the fallback if there is one.
  public var location: String? {
    let item = "the Secret Service, for \(application)"
    return fallback.map { "\(item), or \($0.path)" } ?? item
  }

  /// Finds the key, or makes it.
  ///
  /// Two processes that make it at the same time end with one key.
  ///
  /// - Parameter creating: Whether to make and keep a new one if there is none.
  /// - Returns: The key, or nil if there is none and none was to be made.
  /// - Throws: ``/ArchiveCodec/ArchiveError``:
  ///   `keyLocked` if the default collection or the item is locked, also after the
  ///   user was asked and did not unlock it, and if a key that was there once may be in
  ///   another collection that is locked;
  ///   `keyUnavailable` if there is no session bus, no service, an answer that makes
  ///   no sense, or no collection for a new key;
  ///   `keyDamaged` if the stored secret is not 32 bytes, which is never replaced;
  ///   what ``/ArchiveCodec/KeyFile`` throws, for the fallback and the note.
  public func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? {
    do throws(ArchiveError) {
      return try inContextOfItsOwn { () throws(ArchiveError) in
        if let key = try existingKey(noting: creating) { return key }
        guard creating else { return nil }
        return try note.alone { () throws(ArchiveError) in
          // Another process may have been first.
          if let key = try existingKey(noting: false) { return key }
          return try newKey()
        }
      }
    } catch {
      throw error.located(at: location ?? application)
    }
  }

  private enum Place {
    case file(KeyFile)
    case keyring(Keyring)
  }

  /// Where the key is, or belongs if there is none.
  private func place() throws(ArchiveError) -> Place {
    if let fallback, try fallback.load() != nil { return .file(fallback) }
    do throws(ArchiveError) {
      return .keyring(try Keyring())
    } catch {
      guard let fallback, try !note.isWritten() else { throw error }
      return .file(fallback)
    }
  }

  private func existingKey(noting: Bool) throws(ArchiveError) -> ArchiveKey? {
    switch try place() {
    case .file(let file): return try file.key(creating: false)
    case .keyring(let keyring):
      guard let key = try keyring.key(of: application, unlocking: unlocking) else {
        // A collection that was never unlocked hides its items, and the user may have
        // chosen another one for new items since.
        if try note.isWritten(), try keyring.hasLockedCollection() { throw .keyLocked() }
        return nil
      }
      // The item may be older than the note: a keyring can be copied.
      if noting, try !note.isWritten() {
        try note.alone { () throws(ArchiveError) in try note.write() }
      }
      return key
    }
  }

  private func newKey() throws(ArchiveError) -> ArchiveKey {
    switch try place() {
    case .file(let file): return try file.loadOrCreate()
    case .keyring(let keyring):
      let key = try keyring.makeKey(of: application, unlocking: unlocking)
      // After the key: a note without one would keep a launch without a service from
      // making one. A key that is not noted has sealed nothing yet.
      try note.write()
      return key
    }
  }
}
#else
public import ArchiveCodec

/// The key as an item of the desktop's keyring; it is there with the package trait only.
@available(
  *, unavailable,
  message: "Depend on the package with traits: [\"SecretService\"], and install libsecret-1-dev."
)
public struct SecretServiceKeyProvider: Sendable {
  /// Is not available without the trait.
  public init(
    application: String, fallback: KeyFile? = nil, unlocking: Bool = false
  ) {}
}
#endif
