/// The views of one node.
enum ViewTree {
  /// The views of a node that have an identifier, outer ones before inner ones.
  ///
  /// The views of a node that this one contains or presents belong to that node.
  ///
  /// - Returns: The views; nil if there are more than `most`, as when a view makes another one
  ///   whenever it is asked.
  static func views(
    _ own: [any RestorableView], of node: any RestorableNode, besides below: [any RestorableNode],
    most: Int
  ) -> [(identifier: String, view: any RestorableView)]? {
    var stack = Array(own.reversed())
    guard !stack.isEmpty else { return [] }
    // A node that contains itself keeps its own views. All views that were met live until the end,
    // so that no new view gets the address of one that was visited.
    var met = below.filter { $0 !== node }.flatMap(\.restorationViews)
    var visited = Set(met.map { ObjectIdentifier($0) })
    let most = min(most, .max - met.count) + met.count
    var views: [(identifier: String, view: any RestorableView)] = []
    while let view = stack.popLast() {
      guard visited.insert(ObjectIdentifier(view)).inserted else { continue }
      guard met.count < most else { return nil }
      met.append(view)
      stack.append(contentsOf: view.restorationSubviews.reversed())
      guard let identifier = view.restorationName, !identifier.isEmpty else {
        continue
      }
      views.append((identifier, view))
    }
    return views
  }
}
