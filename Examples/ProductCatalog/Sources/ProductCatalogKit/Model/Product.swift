package import Foundation

/// A program in the catalog.
package struct Product: Hashable, Sendable, Identifiable {
  package let id: UUID
  package let package: String
  package var title: String
  package var description: String
  package let version: String
  package let section: String
  package let homepage: String?
  package let downloadBytes: Int
  package let installedKiB: Int
}

extension Product: Codable {}
