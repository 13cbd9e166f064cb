internal import RestorationLibc

/// Where the user's files belong: the XDG Base Directory Specification, and
/// Application Support on Apple systems.
package struct BaseDirectories: Sendable {
  private let stateHome: String
  private let keyHome: String

  /// - Parameters:
  ///   - variable: Gives a variable of the process. A path that is not absolute is ignored.
  ///   - databaseHome: The home directory of the user in the password database, which counts
  ///     without `HOME`. Without either it is “/”, as where a container has no such user.
  package init(variable: (String) -> String?, databaseHome: @autoclosure () -> String?) {
    func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }
    let home = absolute(variable("HOME")) ?? absolute(databaseHome()) ?? "/"
    func below(_ path: String) -> String { home.hasSuffix("/") ? home + path : "\(home)/\(path)" }
    #if canImport(Darwin)
    stateHome = below("Library/Application Support")
    keyHome = below("Library/Application Support/Restoration Keys")
    #else
    let states = absolute(variable("XDG_STATE_HOME"))
    stateHome = states ?? below(".local/state")
    // A snap sets the second variable alone for all that it starts, and its terminal has the state of
    // any other, so the key must be the same.
    let data = states.flatMap { _ in absolute(variable("XDG_DATA_HOME")) }
    keyHome = (data ?? below(".local/share")) + "/restoration-keys"
    #endif
  }

  /// The directories of this process.
  ///
  /// Its variables are read here, since Foundation replaces bytes that are no UTF-8, so that two directories
  /// could have one name.
  package static var current: BaseDirectories {
    BaseDirectories(
      variable: { name in unsafe getenv(name).map { unsafe path($0, of: name) } },
      databaseHome: homeOfPasswordDatabase)
  }

  /// A path as text; one that is no UTF-8 becomes one at which nothing can be, and whose errors say so.
  @unsafe private static func path(_ path: UnsafePointer<CChar>, of name: String) -> String {
    unsafe String(validatingCString: path) ?? "/dev/null/\(name) is no UTF-8"
  }

  /// The home in the password database.
  ///
  /// Read here, since Foundation gives `/var/empty` for a process without `HOME`, for any user.
  private static var homeOfPasswordDatabase: String? {
    // More than any entry has: asked for only without `HOME`.
    var strings = [CChar](repeating: 0, count: 1 << 20)
    return unsafe strings.withUnsafeMutableBufferPointer { strings in
      var entry = unsafe passwd()
      var found: UnsafeMutablePointer<passwd>?
      guard let start = strings.baseAddress,
        unsafe getpwuid_r(getuid(), &entry, start, strings.count, &found) == 0,
        unsafe found != nil, let home = unsafe entry.pw_dir
      else { return nil }
      return unsafe path(home, of: "the home of the user")
    }
  }

  package func state(of application: String) -> String { "\(stateHome)/\(application)" }

  package func keyFile(of application: String) -> String { "\(keyHome)/\(application).key" }

  package func keyringNote(of application: String) -> String { "\(keyHome)/\(application).keyring" }
}
