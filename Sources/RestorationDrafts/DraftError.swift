internal import ArchiveCodec
public import RestorationFoundation

/// Why nothing can be said of the content of a file.
public struct DraftError: Error, Hashable, Sendable {
  /// The kind of a failure.
  ///
  /// More kinds may come; handle unknown ones as ``unreadable``.
  public struct Code: Hashable, Sendable {
    private let name: String

    private init(_ name: String) {
      self.name = name
    }

    /// There is no file.
    public static let gone = Code("gone")

    /// A directory, a FIFO or a device is there, or the URL is that of no file.
    public static let notAFile = Code("notAFile")

    /// This process may not read the file.
    public static let permissionDenied = Code("permissionDenied")

    /// Somebody writes the file while it is read.
    public static let changing = Code("changing")

    /// The file has bytes of another kind than the draft, as no text in UTF-8.
    public static let otherContent = Code("otherContent")

    /// The file cannot be read now.
    public static let unreadable = Code("unreadable")
  }

  /// The kind of failure.
  public let code: Code

  private let reason: String

  init(_ code: Code, _ reason: String) {
    (self.code, self.reason) = (code, reason)
  }
}

extension DraftError {
  static func gone(_ path: String) -> DraftError {
    DraftError(.gone, "There is no file at \(path).")
  }

  static func notAFile(_ place: String) -> DraftError {
    DraftError(.notAFile, "\(place) is no file whose content could be compared. Choose a file.")
  }

  static func changing(_ path: String) -> DraftError {
    DraftError(
      .changing, "\(path) is written while it is read. Ask again when the other program is done.")
  }

  /// The error of a call of the system.
  init(_ error: ArchiveError, at path: String) {
    self =
      switch error.code {
      case .notAFile: .notAFile(path)
      case .permissionDenied:
        DraftError(
          .permissionDenied, "\(path) must not be read by this process. Give it the right to.")
      default:
        DraftError(
          .unreadable,
          "\(path) cannot be read now. Ask again later. (\(error.located(at: path).facts))")
      }
  }
}

extension DraftError: CustomStringConvertible {
  /// The failure and what to do, in plain words; the text may change.
  public var description: String { reason }
}

extension DraftError: LocalizedError {
  /// The text of ``description``; it is not translated.
  public var errorDescription: String? { description }
}
