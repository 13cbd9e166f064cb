internal import ArchiveCodec
package import RestorationKit

/// Many states of one node each, every one in a directory of files of its own.
package final class SmallStates {
  private struct State {
    let root: ProductRoot
    let directory: FileStateDirectory
    var keeper: StateKeeper
  }

  private var states: [State]
  private let keys: FixedKeyProvider

  /// Creates the states of products in directories, which need not exist.
  package init(_ products: [Product], path: (Product) -> String) throws {
    let keys = FixedKeyProvider(try ArchiveKey())
    states = try products.map { product in
      let directory = FileStateDirectory(path: path(product))
      return State(
        root: ProductRoot(ProductNode(product)), directory: directory,
        keeper: try Self.makeKeeper(directory, keys))
    }
    self.keys = keys
  }

  private static func makeKeeper(
    _ directory: FileStateDirectory, _ keys: FixedKeyProvider
  ) throws -> StateKeeper {
    try StateKeeper(application: "org.example.catalog", directory: directory, keys: keys)
  }

  /// Removes what is stored, and makes keepers that have never known it: the next save
  /// of each state writes it whole.
  package func startAnew() async throws {
    for place in states.indices {
      try await states[place].keeper.discardState()
      await states[place].keeper.close()
      states[place].keeper = try Self.makeKeeper(states[place].directory, keys)
    }
  }

  /// Saves each state whole, for the first time or after ``startAnew()``, and lets it go.
  ///
  /// It is on the disk after that. What is let go is not open any more.
  package func save() async throws {
    for state in states {
      try await state.keeper.save([state.root]).checkHasWrittenAll(productCount: 1)
      await state.keeper.close()
    }
  }

  /// Changes the node of each state.
  package func change() {
    for state in states { state.root.node.restock() }
  }

  /// Saves what has changed in each state, which must be stored, and lets it go.
  package func saveChanges() async throws {
    for state in states {
      let report = try await state.keeper.save([state.root])
      guard report.outcome == .saved, report.setAside == nil, report.writtenByteCount > 0,
        report.writtenByteCount < report.byteCount
      else { throw WorkloadError(report.description) }
      await state.keeper.close()
    }
  }

  /// Brings each state back as a new process does, with a keeper of its own.
  @discardableResult
  package func restore() async throws -> [Product] {
    var products: [Product] = []
    products.reserveCapacity(states.count)
    for state in states {
      let restored = ProductRoot(ProductNode(identifier: state.root.node.product.identifier))
      let keeper = try Self.makeKeeper(state.directory, keys)
      let report = try await keeper.restore(into: [restored])
      guard report.outcome == .restored else { throw WorkloadError(report.description) }
      products.append(restored.node.product)
    }
    return products
  }
}

/// A product that is there before a restore, as the root of a state must be, while a
/// ProductNode is made by its class.
package final class ProductRoot: RestorableNode {
  package let node: ProductNode

  package var restorationIdentifier: String? { node.restorationIdentifier }

  package init(_ node: ProductNode) {
    self.node = node
  }

  package func encodeRestorableState(with coder: StateEncoder) {
    node.encodeRestorableState(with: coder)
  }

  package func decodeRestorableState(with coder: StateDecoder) throws {
    try node.decodeRestorableState(with: coder)
  }
}
