public import ArchiveCodec
internal import RestorationFoundation
internal import RestorationLibc
public import RestorationKit

/// A key in a variable of the environment, for servers.
///
/// The variable has 32 bytes, as 64 hexadecimal digits or in base64:
/// `openssl rand -base64 32` makes one. The provider reads the key from the environment
/// into guarded memory, and makes no other copy. But the environment itself stays readable,
/// for programs of the same user and for programs that the process starts: a file or a
/// ``CredentialKeyProvider`` keeps the key better.
///
/// - Important: Do not change the environment on another thread meanwhile.
public struct EnvironmentKeyProvider: KeyProvider {
  /// The name of the variable.
  public let variable: String

  /// Creates a provider of the key in a variable.
  ///
  /// - Parameter variable: The name of the variable.
  public init(_ variable: String) {
    self.variable = variable
  }

  /// The name of the variable.
  public var location: String? { "the variable \(variable)" }

  /// False: the program that starts the process sets the variable.
  public var makesKey: Bool { false }

  /// Reads the variable.
  ///
  /// - Parameter creating: Whether there must be a key; none is ever made.
  /// - Returns: The key; nil if the variable is not set and `creating` is false.
  /// - Throws: ``/ArchiveCodec/ArchiveError``: `keyDamaged` if the variable has no key,
  ///   also if it is empty, and `keyMissing` if it is not set and `creating` is true.
  public func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? {
    do throws(ArchiveError) {
      guard let text = unsafe getenv(variable) else {
        guard !creating else { throw ArchiveError(.keyMissing) }
        return nil
      }
      return try unsafe ArchiveKey(text: UnsafeRawBufferPointer(start: text, count: strlen(text)))
    } catch {
      throw error.located(at: location ?? variable)
    }
  }
}

/// A key that systemd gives a service as a credential.
///
/// Systemd puts the credential into a folder that only the service can read, and names
/// the folder in `$CREDENTIALS_DIRECTORY`. The file has 32 bytes, or a key as text as
/// for ``EnvironmentKeyProvider``, or is a copy of a ``/ArchiveCodec/KeyFile``. The
/// provider reads the key into guarded memory, and makes no other copy.
public struct CredentialKeyProvider: KeyProvider {
  /// The name of the credential.
  public let name: String

  /// The folder of the credential; nil if the process has none.
  public let folder: String?

  /// Creates a provider of a credential.
  ///
  /// - Parameters:
  ///   - name: The name of the credential.
  ///   - folder: The folder of the credential; if nil, `$CREDENTIALS_DIRECTORY`.
  public init(_ name: String, folder: String? = nil) {
    self.name = name
    self.folder = folder ?? Self.folderOfService
  }

  /// Asks for one variable: the whole environment may have keys, so it is not copied.
  private static var folderOfService: String? {
    unsafe getenv("CREDENTIALS_DIRECTORY").map { unsafe String(cString: $0) }
  }

  /// The path of the credential.
  public var location: String? { "\(folder ?? "$CREDENTIALS_DIRECTORY")/\(name)" }

  /// False: the service manager provides the credential.
  public var makesKey: Bool { false }

  /// Reads the credential.
  ///
  /// - Parameter creating: Whether there must be a key; none is ever made.
  /// - Returns: The key; nil if there is no credential and `creating` is false.
  /// - Throws: ``/ArchiveCodec/ArchiveError``: `keyDamaged` if the file has no key,
  ///   `keyExposed` if everybody may read it, `keyMissing` if there is none and
  ///   `creating` is true, and the errors of reading the file.
  public func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? {
    if let folder, let key = try ArchiveKey.read(fromFile: "\(folder)/\(name)") { return key }
    guard !creating else { throw ArchiveError(.keyMissing).located(at: location ?? name) }
    return nil
  }
}
