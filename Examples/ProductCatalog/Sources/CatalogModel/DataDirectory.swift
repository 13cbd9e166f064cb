public import Foundation

/// Where the user's edits are kept if the command line does not say.
public enum DataDirectory {
  private static let name = "product-catalog"

  /// The folder in the user's data directory.
  public static func usual(environment: [String: String]) -> URL {
    // A relative path in XDG_DATA_HOME is to be ignored, says the specification.
    if let shared = environment["XDG_DATA_HOME"], shared.hasPrefix("/") {
      return URL(filePath: shared).appending(path: name)
    }
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? URL(filePath: $0) : nil }
    return (home ?? FileManager.default.homeDirectoryForCurrentUser)
      .appending(path: ".local/share").appending(path: name)
  }
}
