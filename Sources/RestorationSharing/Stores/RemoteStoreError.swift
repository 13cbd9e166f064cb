public import RestorationFoundation
internal import RestorationKit

/// Why a store that is shared between machines did not answer, or refused.
///
/// The error does not say whether a write took place.
public struct RemoteStoreError: Error, Hashable, Sendable {
  /// The kind of a failure.
  ///
  /// More kinds may come; handle unknown ones as ``unavailable``.
  public struct Code: Hashable, Sendable {
    private let name: String

    private init(_ name: String) {
      self.name = name
    }

    /// The store cannot be reached or does not answer in time, which may pass.
    public static let unavailable = Code("unavailable")

    /// The store refuses this process, or this request.
    ///
    /// A password is wrong, or a right is missing: somebody has to change that.
    public static let refused = Code("refused")

    /// The store has no room.
    public static let full = Code("full")

    /// The state is larger than the store takes.
    public static let tooLarge = Code("tooLarge")

    /// The stored state was made by a version of the software that this one does not know.
    public static let incompatible = Code("incompatible")

    /// The bytes under the name are not those that this software stored there.
    public static let damaged = Code("damaged")
  }

  /// The kind of failure.
  public let code: Code

  private let reason: String

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - reason: The failure and its remedy, in one or two sentences without any
  ///     secret.
  public init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  /// Whether the store has answered, so that asking again at once is of no use.
  var isRefusal: Bool { code != .unavailable }

  /// Whether the store will never take or give the same bytes.
  var isAboutContent: Bool { [.tooLarge, .incompatible, .damaged].contains(code) }

  /// The error of a store; any other error than a ``RemoteStoreError`` counts as unavailable.
  init(_ error: any Error) {
    self =
      error as? RemoteStoreError
      ?? RemoteStoreError(
        .unavailable,
        "The store did not answer. Try again when it can be reached. (\(error.reason))")
  }
}

extension RemoteStoreError: CustomStringConvertible {
  /// The failure and its remedy, in plain words; the text may change.
  public var description: String { reason }
}

extension RemoteStoreError: LocalizedError {
  /// The text of ``description``; it is not translated.
  public var errorDescription: String? { description }
}
