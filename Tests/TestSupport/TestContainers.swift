package import RestorationKit

/// A stack that writes down what is given back to it.
@MainActor
package final class TestStack: TestNode, @MainActor RestorableStack {
  package func restoreStack(_ nodes: [any RestorableNode]) {
    trace?.add("stack \(nodes.map { $0.restorationName ?? "nil" }.joined(separator: ","))")
    restorationChildren = nodes
  }
}

@MainActor
package final class TestSplit: TestNode, @MainActor RestorableSplit {
  package var restoredColumns: [any RestorableNode] = []

  package func restoreColumns(_ nodes: [any RestorableNode]) {
    restoredColumns = nodes
  }
}

@MainActor
package final class TestTabs: TestNode, @MainActor RestorableTabs {
  package var selectedTab: (any RestorableNode)? {
    didSet { trace?.add("select \(selectedTab?.restorationName ?? "nil")") }
  }
}

@MainActor
package class TestPresenter: TestNode {
  package override func restorePresented(_ node: any RestorableNode) {
    trace?.add("present \(node.restorationName ?? "nil")")
    restorationPresented = node
  }
}

/// Presents, overrides both hooks and calls nobody.
@MainActor
package final class ForgetfulPresenter: TestPresenter {
  package override func encodeRestorableState(with coder: StateEncoder) throws {}
  package override func decodeRestorableState(with coder: StateDecoder) throws {}
}
