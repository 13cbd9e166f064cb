internal import ArchiveCodec
internal import RestorationKit

/// Many states of one node each, every one in a directory of files of its own.
package final class SmallStates {
  private struct State {
    let root: ProductNode
    let directory: FileStateDirectory
    let keeper: StateKeeper
  }

  private let states: [State]
  private let keys: FixedKeyProvider

  /// Creates the states of products in directories, which need not exist.
  package init(_ products: [Product], path: (Product) -> String) throws {
    let keys = FixedKeyProvider(try ArchiveKey())
    states = try products.map { product in
      let directory = FileStateDirectory(path: path(product))
      return State(
        root: ProductNode(product), directory: directory,
        keeper: try Self.makeKeeper(directory, keys))
    }
    self.keys = keys
  }

  private static func makeKeeper(
    _ directory: FileStateDirectory, _ keys: FixedKeyProvider
  ) throws -> StateKeeper {
    try StateKeeper(application: "org.example.catalog", directory: directory, keys: keys)
  }

  /// Saves each state, which is on the disk after that, and lets it go.
  package func save() async throws {
    for state in states {
      let report = try await state.keeper.save([state.root])
      guard report.outcome == .saved, report.setAside == nil else {
        throw WorkloadError(report.description)
      }
      await state.keeper.close()
    }
  }

  /// Brings each state back as a new process does, with a keeper of its own.
  @discardableResult
  package func restore() async throws -> [Product] {
    var products: [Product] = []
    products.reserveCapacity(states.count)
    for state in states {
      let restored = ProductNode(identifier: state.root.product.identifier)
      let keeper = try Self.makeKeeper(state.directory, keys)
      let report = try await keeper.restore(into: [restored])
      guard report.outcome == .restored else { throw WorkloadError(report.description) }
      products.append(restored.product)
    }
    return products
  }
}
