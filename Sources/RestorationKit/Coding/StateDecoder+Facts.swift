public import RestorationFoundation

/// Facts about the save, the same in every coder of a restore.
extension StateDecoder {
  /// The version of the application that saved, nil if it gave none.
  public var applicationVersion: String? { facts?.applicationVersion }

  /// The kind of interface of the application that saved.
  public var userInterfaceIdiom: String? { facts?.userInterfaceIdiom }

  /// The version of the operating system at the save.
  public var systemVersion: String? { facts?.systemVersion }

  /// When a save last wrote a part of the state, by the clock of the keeper that saved;
  /// in whole seconds, unless the application's own values were written then.
  public var timestamp: Date? { facts?.timestamp }
}
