/// How a value is kept that needs more care than an ordinary one.
///
///     coder.encode(code, forKey: "code", sensitivity: .ephemeral)
///     coder.encode(search, forKey: "search", sensitivity: .expiring(after: .seconds(3600)))
///     coder.encode(note, forKey: "note", sensitivity: .secret)
///
/// See <doc:sensitive-values>.
public enum Sensitivity: Hashable, Sendable {
  /// The value is not stored at all: a restore finds the key absent.
  ///
  /// So the method that encodes can name all values, and say here which of them no file
  /// may have. The value is not even encoded.
  case ephemeral

  /// A restore gives the value back until the time is over, counted from the save that
  /// first stored it under this key of the object.
  ///
  /// After that a restore finds the key absent, and the next save removes the value
  /// from the state. An equal value that is encoded again and again goes on counting;
  /// another value begins anew. A duration of 0 or less is as ``ephemeral``.
  case expiring(after: Duration)

  /// The value can be forgotten, at once and in all copies of the state.
  ///
  /// The value is sealed with a subkey of its own, which is stored beside the state and
  /// not in it. ``StateKeeper/forgetSecrets(_:)`` removes the subkey; after that nobody
  /// can read the value: not in the file, in earlier contents of the file, or in a copy
  /// that somebody has made. A restore finds the key absent then.
  case secret
}
