package import Foundation
package import RestorationKit

/// A list of named rows in one section.
@MainActor
package final class TestList: TestNode, @MainActor RestorableList {
  package var rows: [String]
  package var selectedIndexPaths: [IndexPath] = []
  package var firstVisibleIndexPath: IndexPath? {
    didSet { trace?.add("first \(firstVisibleIndexPath?.first ?? -1)") }
  }
  package var modelAssociation: (any DataSourceModelAssociation)?

  package init(_ identifier: String, rows: [String]) {
    self.rows = rows
    super.init(identifier)
  }

  package var selectedRows: [String] {
    get { selectedIndexPaths.map { rows[$0[0]] } }
    set {
      selectedIndexPaths = newValue.compactMap { name in
        rows.firstIndex(of: name).map { IndexPath(index: $0) }
      }
    }
  }

  package func hasElement(at indexPath: IndexPath) -> Bool {
    indexPath.count == 1 && rows.indices.contains(indexPath[0])
  }
}

/// Names rows by their text; those that begin with `?` have no name.
@MainActor
package final class RowNames: @MainActor DataSourceModelAssociation {
  package init() {}

  package func modelIdentifierForElement(
    at indexPath: IndexPath, in list: any RestorableList
  ) -> String? {
    guard let rows = (list as? TestList)?.rows, rows.indices.contains(indexPath[0]) else {
      return nil
    }
    return rows[indexPath[0]].hasPrefix("?") ? nil : rows[indexPath[0]]
  }

  package func indexPathForElement(
    withModelIdentifier identifier: String, in list: any RestorableList
  ) -> IndexPath? {
    (list as? TestList)?.rows.firstIndex(of: identifier).map { IndexPath(index: $0) }
  }
}

/// Overrides both hooks and calls nobody.
@MainActor
package final class ForgetfulList: TestNode, @MainActor RestorableList {
  package var selectedIndexPaths: [IndexPath] = []
  package var firstVisibleIndexPath: IndexPath?

  package func hasElement(at indexPath: IndexPath) -> Bool { true }
  package override func encodeRestorableState(with coder: StateEncoder) throws {}
  package override func decodeRestorableState(with coder: StateDecoder) throws {}
}
