internal import ArchiveCodec
public import RestorationKit

extension RestorationError.Code {
  /// A master key of ``UserKeys`` is not there.
  public static let masterKeyMissing = Self("masterKeyMissing")

  /// A user's key is sealed under a master key that ``UserKeys`` was not given.
  public static let masterKeyWrong = Self("masterKeyWrong")

  /// What is stored as the key of a user is not what ``UserKeys`` stored there.
  public static let userKeyDamaged = Self("userKeyDamaged")
}

extension RestorationError {
  /// A master key is not there.
  static func masterKeyMissing(at location: String?) -> RestorationError {
    RestorationError(
      .masterKeyMissing,
      "A master key is not there: \(location ?? "its provider") has none. Put it back; a new one"
        + " would open no key of any user.")
  }

  /// None of the master keys fits.
  static func masterKeyWrong(_ name: String, in location: String) -> RestorationError {
    RestorationError(
      .masterKeyWrong,
      "The key “\(name)” in \(location) is sealed under another master key."
        + " Give UserKeys that one, too, as a former one.")
  }

  /// The key of a user cannot be used.
  static func userKeyDamaged(
    _ name: String, in location: String, _ cause: ArchiveError?
  ) -> RestorationError {
    RestorationError(
      .userKeyDamaged,
      "The key “\(name)” in \(location) is \(cause == nil ? "missing" : "damaged, or that of another user")."
        + " Put it back from a backup of the keys. Without it, what it sealed cannot be read.")
  }
}
