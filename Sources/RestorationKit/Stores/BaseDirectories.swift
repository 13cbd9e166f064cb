#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Where the user's files belong: the XDG Base Directory Specification, and
/// Application Support on Apple systems.
package struct BaseDirectories: Sendable {
  private let stateHome: String
  private let keyHome: String

  /// - Parameters:
  ///   - environment: The variables of the process. A path that is not absolute is ignored.
  ///   - databaseHome: The home directory of the user in the password database, which counts
  ///     without `HOME`. Without either it is “/”, as where a container has no such user.
  package init(environment: [String: String], databaseHome: @autoclosure () -> String?) {
    func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }
    let home = absolute(environment["HOME"]) ?? absolute(databaseHome()) ?? "/"
    func below(_ path: String) -> String { home.hasSuffix("/") ? home + path : "\(home)/\(path)" }
    #if canImport(Darwin)
    stateHome = below("Library/Application Support")
    keyHome = below("Library/Application Support/Restoration Keys")
    #else
    stateHome = absolute(environment["XDG_STATE_HOME"]) ?? below(".local/state")
    keyHome =
      (absolute(environment["XDG_DATA_HOME"]) ?? below(".local/share")) + "/restoration-keys"
    #endif
  }

  package static var current: BaseDirectories {
    BaseDirectories(
      environment: ProcessInfo.processInfo.environment, databaseHome: homeOfPasswordDatabase)
  }

  /// The home in the password database.
  ///
  /// Read here, since Foundation gives `/var/empty` for a process without `HOME`, for any user.
  private static var homeOfPasswordDatabase: String? {
    for byteCount in [1 << 10, 1 << 14, 1 << 20] {
      var strings = [CChar](repeating: 0, count: byteCount)
      let (failure, home) = unsafe strings.withUnsafeMutableBufferPointer { strings in
        guard let start = strings.baseAddress else { return (ERANGE, nil as String?) }
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        let failure = unsafe getpwuid_r(getuid(), &entry, start, strings.count, &found)
        guard unsafe found != nil, let home = unsafe entry.pw_dir else { return (failure, nil) }
        return unsafe (failure, String(cString: home))
      }
      if let home { return home }
      // The buffer was too small for the strings of the entry.
      guard failure == ERANGE else { return nil }
    }
    return nil
  }

  package func state(of application: String) -> String {
    "\(stateHome)/\(application)"
  }

  package func keyFile(of application: String) -> String {
    "\(keyHome)/\(application).key"
  }

  package func keyringNote(of application: String) -> String {
    "\(keyHome)/\(application).keyring"
  }
}
