internal import Observation
package import RestorationKit

/// What the histories of a tree do with a node, whatever its way of tracking is.
@MainActor
package protocol HistoryNode: AnyObject, RestorableNode {
  var name: String? { get set }
  var value: String { get set }
  var below: [any RestorableNode] { get set }
  var shown: (any RestorableNode)? { get set }
  var views: [any RestorableView] { get set }
  /// Whom it refers to when it is encoded.
  var references: [any StateRestoring] { get set }
  var throwsInEncode: Bool { get set }
  /// How often it was encoded.
  var encodeCount: Int { get set }
}

extension HistoryNode {
  fileprivate func encode(with coder: StateEncoder) throws {
    encodeCount += 1
    coder.encode(value, forKey: "value")
    coder.encode(references, forKey: "references")
    if throwsInEncode { throw EncodeFailure() }
  }
}

private struct EncodeFailure: Error {}

/// A node that says nothing of its changes.
@MainActor
package class PlainNode: @MainActor HistoryNode {
  package class var stateTracking: StateTracking { .always }

  package var name: String?
  package var value = ""
  package var below: [any RestorableNode] = []
  package var shown: (any RestorableNode)?
  package var views: [any RestorableView] = []
  package var references: [any StateRestoring] = []
  package var throwsInEncode = false
  package var encodeCount = 0

  package var restorationIdentifier: String? { name }
  package var restorationChildren: [any RestorableNode] { below }
  package var restorationPresented: (any RestorableNode)? { shown }
  package var restorationViews: [any RestorableView] { views }

  package init(_ name: String?) {
    self.name = name
  }

  package func encodeRestorableState(with coder: StateEncoder) throws { try encode(with: coder) }

  package func decodeRestorableState(with coder: StateDecoder) throws {
    value = try coder.decodeIfPresent(forKey: "value") ?? ""
  }
}

/// A node that says when it has changed, unless it is told to be quiet.
@MainActor
package class TrackedNode: PlainNode {
  override package class var stateTracking: StateTracking { .invalidated }

  package var isQuiet = false

  override package var name: String? { didSet { changed() } }
  override package var value: String { didSet { changed() } }
  override package var below: [any RestorableNode] { didSet { changed() } }
  override package var shown: (any RestorableNode)? { didSet { changed() } }
  override package var views: [any RestorableView] { didSet { changed() } }
  override package var references: [any StateRestoring] { didSet { changed() } }
  override package var throwsInEncode: Bool { didSet { changed() } }

  private func changed() {
    if !isQuiet { invalidateRestorableState() }
  }
}

/// One whose children may have equal identifiers.
@MainActor
package final class TrackedStack: TrackedNode, @MainActor RestorableStack {
  package func restoreStack(_ nodes: [any RestorableNode]) { below = nodes }
}

/// One with columns, whose children may have equal identifiers, too.
@MainActor
package final class TrackedSplit: TrackedNode, @MainActor RestorableSplit {}

@MainActor
package final class TrackedTabs: TrackedNode, @MainActor RestorableTabs {
  package var selectedTab: (any RestorableNode)? { didSet { invalidateRestorableState() } }
}

/// A stack that says nothing of its changes.
@MainActor
package final class PlainStack: PlainNode, @MainActor RestorableStack {
  package func restoreStack(_ nodes: [any RestorableNode]) { below = nodes }
}

/// Tabs that say nothing of their changes.
@MainActor
package final class PlainTabs: PlainNode, @MainActor RestorableTabs {
  package var selectedTab: (any RestorableNode)?
}

/// A registered object that says when it has changed.
@MainActor
package final class TrackedObject: @MainActor RestorableObject {
  package static var stateTracking: StateTracking { .invalidated }

  package var value: String? { didSet { invalidateRestorableState() } }
  package var references: [any StateRestoring] = [] { didSet { invalidateRestorableState() } }
  package weak var restorationParent: (any StateRestoring)? {
    didSet { invalidateRestorableState() }
  }

  package init(_ value: String?) {
    self.value = value
  }

  package func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(value, forKey: "value")
    coder.encode(references, forKey: "references")
  }

  package func decodeRestorableState(with coder: StateDecoder) throws {
    value = try coder.decodeIfPresent(forKey: "value")
  }
}

/// A node whose changes the system observes.
@MainActor @Observable
package final class ObservedNode: @MainActor HistoryNode {
  package static var stateTracking: StateTracking { .observed }

  package var name: String?
  package var value = ""
  package var below: [any RestorableNode] = []
  package var shown: (any RestorableNode)?
  package var views: [any RestorableView] = []
  package var references: [any StateRestoring] = []
  package var throwsInEncode = false
  @ObservationIgnored package var encodeCount = 0

  package var restorationIdentifier: String? { name }
  package var restorationChildren: [any RestorableNode] { below }
  package var restorationPresented: (any RestorableNode)? { shown }
  package var restorationViews: [any RestorableView] { views }

  package init(_ name: String?) {
    self.name = name
  }

  package func encodeRestorableState(with coder: StateEncoder) throws { try encode(with: coder) }

  package func decodeRestorableState(with coder: StateDecoder) throws {
    value = try coder.decodeIfPresent(forKey: "value") ?? ""
  }
}
