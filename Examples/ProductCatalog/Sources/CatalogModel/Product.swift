public import Foundation

/// A program in the catalog.
public struct Product: Hashable, Sendable, Identifiable {
  public let id: UUID
  public let package: String
  public var title: String
  public var description: String
  public let version: String
  public let section: String
  public let homepage: String?
  public let downloadBytes: Int
  public let installedKiB: Int
}

extension Product: Codable {}
