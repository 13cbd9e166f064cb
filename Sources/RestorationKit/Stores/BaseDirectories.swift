#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Where the user's files belong: the XDG Base Directory Specification, and
/// Application Support on Apple systems.
package struct BaseDirectories: Sendable {
  private let stateHome: String
  private let keyHome: String

  package init(environment: [String: String], home: String) {
    #if canImport(Darwin)
    stateHome = "\(home)/Library/Application Support"
    keyHome = "\(home)/Library/Application Support/Restoration Keys"
    #else
    func directory(_ variable: String, _ fallback: String) -> String {
      // The specification says to ignore a path that is not absolute.
      guard let path = environment[variable], path.hasPrefix("/") else {
        return "\(home)/\(fallback)"
      }
      return path
    }
    stateHome = directory("XDG_STATE_HOME", ".local/state")
    keyHome = directory("XDG_DATA_HOME", ".local/share") + "/restoration-keys"
    #endif
  }

  package static var current: BaseDirectories {
    let environment = ProcessInfo.processInfo.environment
    // A process without HOME has the directory of the password database.
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    return BaseDirectories(
      environment: environment,
      home: home ?? FileManager.default.homeDirectoryForCurrentUser.path)
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
