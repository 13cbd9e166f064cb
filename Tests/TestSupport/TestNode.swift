package import RestorationKit

/// A node whose every answer can be set, and that writes down what is called.
@MainActor
package class TestNode: @MainActor RestorableNode {
  package var restorationIdentifier: String?
  package var restorationClass: (any RestorationClass.Type)?
  package var restorationChildren: [any RestorableNode]
  package var restorationViews: [any RestorableView] = []
  package var restorationPresented: (any RestorableNode)?

  /// Saved and restored under the key `value`.
  package var value: String?
  package var onEncode: ((StateEncoder) throws -> Void)?
  package var onDecode: ((StateDecoder) throws -> Void)?
  package var onLoad: (() -> Void)?
  package var onFinished: (() -> Void)?
  package var trace: Trace?

  package init(
    _ identifier: String?, value: String? = nil, trace: Trace? = nil,
    children: [any RestorableNode] = []
  ) {
    restorationIdentifier = identifier
    restorationChildren = children
    self.value = value
    self.trace = trace
  }

  private var name: String { restorationIdentifier ?? "nil" }

  package func encodeRestorableState(with coder: StateEncoder) throws {
    trace?.add("encode \(name)")
    coder.encode(value, forKey: "value")
    try onEncode?(coder)
  }

  package func loadViewIfNeeded() {
    trace?.add("load \(name)")
    onLoad?()
  }

  package func decodeRestorableState(with coder: StateDecoder) throws {
    trace?.add("decode \(name)")
    value = try coder.decodeIfPresent(forKey: "value")
    try onDecode?(coder)
  }

  package func restorePresented(_ node: any RestorableNode) {}

  package func applicationFinishedRestoringState() {
    trace?.add("finished \(name)")
    onFinished?()
  }
}

/// A subclass, which may stand for its superclass.
package class SpecialTestNode: TestNode {}

/// A subclass of the subclass.
package final class MoreSpecialTestNode: SpecialTestNode {}

/// A class that has nothing to do with ``TestNode``.
@MainActor
package final class UnrelatedNode: @MainActor RestorableNode {
  package let restorationIdentifier: String?
  package let restorationChildren: [any RestorableNode]
  package private(set) var wasDecoded = false
  package private(set) var wasFinished = false

  package init(_ identifier: String?, children: [any RestorableNode] = []) {
    restorationIdentifier = identifier
    restorationChildren = children
  }

  package func decodeRestorableState(with coder: StateDecoder) throws {
    wasDecoded = true
  }

  package func applicationFinishedRestoringState() {
    wasFinished = true
  }
}

/// A restoration class whose answer the running test sets.
@MainActor
package enum TestFactory: @MainActor RestorationClass {
  package static var make: (RestorationPath, StateDecoder) throws -> (any RestorableNode)? = {
    _, _ in nil
  }

  package static func object(
    at path: RestorationPath, coder: StateDecoder
  ) throws -> (any StateRestoring)? {
    try make(path, coder)
  }
}
