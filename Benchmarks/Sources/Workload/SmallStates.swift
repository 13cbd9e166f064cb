internal import ArchiveCodec
package import RestorationKit

/// Many small states, every one in a directory of its own.
package final class SmallStates {
  private struct State {
    let root: ProductRoot
    let directory: any StateDirectory
    var keeper: StateKeeper
  }

  private var states: [State]
  private let keys: ArchiveKey

  /// Creates states of some products each in directories of files, which need not exist.
  package convenience init(_ pages: [[Product]], path: (Product) -> String) throws {
    try self.init(pages) { FileStateDirectory(path: path($0)) as any StateDirectory }
  }

  /// Creates states of some products each in memory.
  package convenience init(inMemory pages: [[Product]]) throws {
    try self.init(pages) { _ in MemoryStateDirectory() as any StateDirectory }
  }

  private init(_ pages: [[Product]], directory: (Product) -> any StateDirectory) throws {
    let keys = try ArchiveKey()
    states = try pages.map { page in
      let root = ProductRoot(page)
      let directory = directory(root.node.product)
      return State(
        root: root, directory: directory,
        keeper: try Self.makeKeeper(directory, keys))
    }
    self.keys = keys
  }

  private static func makeKeeper(
    _ directory: any StateDirectory, _ keys: ArchiveKey
  ) throws -> StateKeeper {
    let keeper = try StateKeeper(
      application: "org.example.catalog", directory: directory, keys: keys)
    try keeper.register(ProductNode.self)
    return keeper
  }

  /// Removes what is stored, and makes keepers that have never known it: the next save
  /// of each state writes it whole.
  package func startAnew() async throws {
    for place in states.indices {
      // A discard leaves an empty state.
      await states[place].keeper.close()
      try states[place].directory.storage(named: "main").remove()
      states[place].keeper = try Self.makeKeeper(states[place].directory, keys)
    }
  }

  /// Saves each state whole, for the first time or after ``startAnew()``, and lets it go.
  ///
  /// It is on the disk after that. What is let go is not open any more.
  package func save() async throws {
    for state in states {
      try await state.keeper.save([state.root])
        .checkHasWrittenAll(productCount: state.root.products.count)
      await state.keeper.close()
    }
  }

  /// Changes the node of each state.
  package func change() {
    for state in states { state.root.node.restock() }
  }

  /// Saves what has changed in each state, which must be stored, and lets it go or goes on with it.
  package func saveChanges(closing: Bool = true) async throws {
    for state in states {
      let report = try await state.keeper.save([state.root])
      guard report.outcome == .saved, report.setAside == nil, report.writtenByteCount > 0,
        report.writtenByteCount < report.byteCount
      else { throw WorkloadError(report.description) }
      if closing { await state.keeper.close() }
    }
  }

  package func close() async {
    for state in states { await state.keeper.close() }
  }

  /// Brings each state back as a new process does, with a keeper of its own.
  @discardableResult
  package func restore() async throws -> [[Product]] {
    var pages: [[Product]] = []
    pages.reserveCapacity(states.count)
    for state in states {
      let restored = ProductRoot(ProductNode(identifier: state.root.node.product.identifier))
      let keeper = try Self.makeKeeper(state.directory, keys)
      let report = try await keeper.restore(into: [restored])
      guard report.outcome == .restored else { throw WorkloadError(report.description) }
      pages.append(restored.products)
    }
    return pages
  }
}

/// A product that is there before a restore, as the root of a state must be, with products below it,
/// which are made by their class.
package final class ProductRoot: RestorableNode {
  package let node: ProductNode
  private var others: [ProductNode] = []

  package var restorationIdentifier: String? { node.restorationIdentifier }

  package var restorationChildren: [any RestorableNode] { others }

  package init(_ node: ProductNode) {
    self.node = node
  }

  package convenience init(_ page: [Product]) {
    self.init(ProductNode(page[0]))
    others = page.dropFirst().map(ProductNode.init)
  }

  package var products: [Product] { [node.product] + others.map(\.product) }

  package func encodeRestorableState(with coder: StateEncoder) {
    node.encodeRestorableState(with: coder)
  }

  package func decodeRestorableState(with coder: StateDecoder) throws {
    try node.decodeRestorableState(with: coder)
    others = coder.restoredChildren.compactMap { $0 as? ProductNode }
  }
}
