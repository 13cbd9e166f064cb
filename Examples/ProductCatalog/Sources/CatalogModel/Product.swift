public import Foundation

/// A program in the catalog.
public struct Product: Hashable, Sendable, Identifiable {
  /// The same in every launch.
  public let id: UUID
  /// The name of its package.
  public let package: String
  /// What is shown in lists.
  public var title: String
  /// A few sentences.
  public var description: String
  /// The version of its package.
  public let version: String
  /// What products of its kind are filed under.
  public let section: String
  /// Where its makers are, if that is known.
  public let homepage: String?
  /// How much is downloaded.
  public let downloadBytes: Int
  /// How much room it takes when it is installed.
  public let installedKiB: Int
}

extension Product: Codable {}
