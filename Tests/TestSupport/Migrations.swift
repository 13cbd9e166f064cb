package import RestorationKit

/// The migrations of a class, by the versions from which they start.
package typealias Migrations = [Int: (MigratingState) throws -> Void]

/// One from each version before another one; by default they change nothing.
package func migrations(
  to version: Int, _ change: @escaping (_ from: Int, MigratingState) throws -> Void = { _, _ in }
) -> Migrations {
  Dictionary(uniqueKeysWithValues: (1..<version).map { from in (from, { try change(from, $0) }) })
}
