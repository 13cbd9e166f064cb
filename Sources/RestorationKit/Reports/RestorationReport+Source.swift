public import ArchiveCodec
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension RestorationReport {
  /// The archive that was restored.
  public struct Source: Hashable, Codable, Sendable {
    /// Where it is, for a person to read.
    public let location: String

    /// Nil if it is the state that was saved last; else why an older one was kept.
    public let generation: SetAsideReason?

    /// When it was saved; nil if that is not known.
    public let savedAt: Date?

    /// Its age at the restore in seconds; negative if a clock was set back.
    public let age: TimeInterval?

    /// The newer archives that were passed over, in order.
    public let passedOver: [PassedOver]
  }

  /// A newer archive that was not restored.
  public struct PassedOver: Hashable, Codable, Sendable {
    /// Why it was not.
    public enum Reason: Hashable, Codable, Sendable {
      /// It is not there; it may have been set aside in an earlier launch.
      case missing

      /// It cannot be read; the error is given without its advice, since an older one
      /// could be read. The next save sets it aside.
      case unreadable(String)

      /// Restoring it crashed too often, so it is set aside.
      case crashed
    }

    /// Where it is or was, for a person to read.
    public let location: String

    /// Why it was not restored.
    public let reason: Reason
  }
}

extension RestorationReport.PassedOver: CustomStringConvertible {
  /// Why the file was passed over, in a sentence.
  public var description: String {
    switch reason {
    case .missing: "\(location) is missing, or was set aside before."
    case .unreadable(let error): "\(location) cannot be read (\(error))."
    case .crashed: "\(location) was set aside, since restoring it crashed."
    }
  }
}

extension RestorationReport.Source {
  /// Which older archive it is, and why; empty if it is the newest.
  var sentence: String {
    guard !passedOver.isEmpty else { return "" }
    let saved = age.map { ", saved \(Int(exactly: $0.rounded()) ?? 0) s ago" } ?? ""
    let reasons = passedOver.map(\.description).joined(separator: " ")
    return " It is an older generation, \(location)\(saved). \(reasons)"
  }
}
