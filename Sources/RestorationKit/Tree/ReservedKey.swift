/// The keys under which every coder has facts about the save.
///
/// They can be read from the application's coder and from every node's. An app
/// that encodes a value under one of them is told so in the report, and the
/// fact stays.
public enum ReservedKey: Sendable {
  private static let prefix = "RestorationKit."

  /// The version of the application that saved; a String, absent if not given.
  public static let applicationVersion = prefix + "applicationVersion"

  /// The kind of interface of the application that saved; a String.
  public static let userInterfaceIdiom = prefix + "userInterfaceIdiom"

  /// When it was saved; a Date, independent of any time zone.
  public static let timestamp = prefix + "timestamp"

  /// The version of the operating system; a String.
  public static let systemVersion = prefix + "systemVersion"

  /// Whether a key is one of these; asked for every value, so the prefix, which few
  /// other keys have, comes first.
  static func contains(_ key: String) -> Bool {
    key.utf8.starts(with: prefix.utf8)
      && [applicationVersion, userInterfaceIdiom, timestamp, systemVersion].contains(key)
  }
}
