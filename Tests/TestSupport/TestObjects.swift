package import RestorationKit

/// A registered object whose every answer can be set.
@MainActor
package class TestObject: @MainActor RestorableObject {
  package var restorationParent: (any StateRestoring)?
  package var objectRestorationClass: (any RestorationClass.Type)?
  package var value: String?
  package var onEncode: ((StateEncoder) throws -> Void)?
  package var onDecode: ((StateDecoder) throws -> Void)?
  package private(set) var wasDecoded = false
  package private(set) var wasFinished = false

  package init(_ value: String? = nil, parent: (any StateRestoring)? = nil) {
    self.value = value
    restorationParent = parent
  }

  package func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(value, forKey: "value")
    try onEncode?(coder)
  }

  package func decodeRestorableState(with coder: StateDecoder) throws {
    wasDecoded = true
    value = try coder.decodeIfPresent(forKey: "value")
    try onDecode?(coder)
  }

  package func applicationFinishedRestoringState() {
    wasFinished = true
  }
}

/// An object without state of its own.
@MainActor
package final class StatelessObject: @MainActor RestorableObject {
  package init() {}
}

/// An object restoration class whose answer the running test sets.
@MainActor
package enum TestObjectFactory: @MainActor RestorationClass {
  package static var make: (RestorationPath, StateDecoder) throws -> (any StateRestoring)? = {
    _, _ in nil
  }

  package static func object(
    at path: RestorationPath, coder: StateDecoder
  ) throws -> (any StateRestoring)? {
    try make(path, coder)
  }
}

/// A view that scrolls and has a text.
@MainActor
package final class TestView: @MainActor RestorableView, @MainActor RestorableScrolling,
  @MainActor RestorableTextSelection
{
  package let restorationIdentifier: String?
  package var restorationSubviews: [any RestorableView]
  package var value: String?
  package var onDecode: ((StateDecoder) throws -> Void)?
  package var trace: Trace?
  package var contentOffset = (x: 0.0, y: 0.0) {
    didSet { trace?.add("scroll \(restorationIdentifier ?? "nil")") }
  }
  package var maximumContentOffset = (x: 0.0, y: 0.0)
  package var selectedTextRange: Range<Int>?
  package var text = ""
  package var textLength: Int { text.count }

  package init(_ identifier: String?, value: String? = nil, subviews: [any RestorableView] = []) {
    restorationIdentifier = identifier
    self.value = value
    restorationSubviews = subviews
  }

  package func encodeRestorableState(with coder: StateEncoder) throws {
    trace?.add("encode \(restorationIdentifier ?? "nil")")
    coder.encode(value, forKey: "value")
  }

  package func decodeRestorableState(with coder: StateDecoder) throws {
    trace?.add("decode \(restorationIdentifier ?? "nil")")
    value = try coder.decodeIfPresent(forKey: "value")
    try onDecode?(coder)
  }
}

/// A node whose views are there when they are loaded, and not before.
@MainActor
package final class LateViewNode: TestNode {
  private let late: [any RestorableView]

  package init(_ identifier: String?, views: [any RestorableView]) {
    late = views
    super.init(identifier)
  }

  package override func loadViewIfNeeded() {
    super.loadViewIfNeeded()
    restorationViews = late
  }
}
