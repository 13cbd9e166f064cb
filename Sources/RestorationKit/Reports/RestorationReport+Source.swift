public import ArchiveCodec
public import RestorationFoundation

extension RestorationReport {
  /// The archive that was restored, or was too old.
  public struct Source: Hashable, Sendable {
    /// Where the archive is, for a person to read.
    public let location: String

    /// Nil if the archive is the state that was saved last; else why an older one was kept.
    public let generation: SetAsideReason?

    /// When the archive was saved; nil if the time is not known.
    public let savedAt: Date?

    /// The newer archives that were passed over, in order.
    public let passedOver: [PassedOver]
  }

  /// A newer archive that was not restored.
  public struct PassedOver: Hashable, Sendable {
    /// Why the archive was not restored.
    public enum Reason: Hashable, Sendable {
      /// The archive is missing; it may have been set aside in an earlier launch.
      case missing

      /// The archive cannot be read. The error is given without its advice, since an
      /// older archive could be read. The next save sets the unreadable one aside.
      case unreadable(String)

      /// Restoring the archive crashed too often, so it is set aside.
      case crashed
    }

    /// Where the archive is or was, for a person to read.
    public let location: String

    /// Why the archive was not restored.
    public let reason: Reason
  }
}

extension RestorationReport.PassedOver: CustomStringConvertible {
  /// The reason why the file was passed over, in a sentence.
  public var description: String {
    switch reason {
    case .missing: "\(location) is missing, or was set aside before."
    case .unreadable(let error): "\(location) cannot be read (\(error))."
    case .crashed: "\(location) was set aside, since restoring it crashed."
    }
  }
}

extension RestorationReport.Source {
  /// Says which older archive was restored, and why; empty if it is the newest.
  var sentence: String {
    guard !passedOver.isEmpty else { return "" }
    let reasons = passedOver.map(\.description).joined(separator: " ")
    return " It is an older generation, \(location)\(moment). \(reasons)"
  }

  /// When the archive was saved, to follow its name; empty if that is not known.
  var moment: String { savedAt.map { ", saved \($0)" } ?? "" }
}
