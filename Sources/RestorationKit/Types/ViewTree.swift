/// The views of one node.
enum ViewTree {
  /// Those that have an identifier, outer ones before inner ones.
  ///
  /// Views of the nodes that the node contains or presents belong to those.
  static func views(
    _ own: [any RestorableView], of node: any RestorableNode, besides below: [any RestorableNode]
  ) -> [(identifier: String, view: any RestorableView)] {
    var stack = Array(own.reversed())
    guard !stack.isEmpty else { return [] }
    // One that contains itself keeps its own.
    let others = below.lazy.filter { $0 !== node }
    var visited = Set(others.flatMap { $0.restorationViews.map { ObjectIdentifier($0) } })
    var views: [(identifier: String, view: any RestorableView)] = []
    while let view = stack.popLast() {
      guard visited.insert(ObjectIdentifier(view)).inserted else { continue }
      stack.append(contentsOf: view.restorationSubviews.reversed())
      guard let identifier = view.restorationIdentifier, !identifier.isEmpty else { continue }
      views.append((identifier, view))
    }
    return views
  }

  /// The same by identifier; the first of equal ones counts.
  static func viewsByIdentifier(of node: any RestorableNode) -> [String: any RestorableView] {
    let below = node.restorationChildren + [node.restorationPresented].compactMap(\.self)
    return Dictionary(
      views(node.restorationViews, of: node, besides: below).map { ($0.identifier, $0.view) },
      uniquingKeysWith: { first, _ in first })
  }
}
