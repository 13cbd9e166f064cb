/// The paths of the elements of a document, each made when somebody asks for it.
///
/// Paths share their beginnings, so that the paths of all elements take linear memory and time.
final class StoredPaths {
  private let elements: [Element]
  /// The paths of elements with others below them.
  private var known: [Int32: RestorationPath] = [:]
  /// The element above the one that was asked for last: siblings come one after the other.
  private var last = (parent: Document.tree, path: RestorationPath())

  init(_ document: Document) { elements = document.elements }

  subscript(slot: Int32) -> RestorationPath {
    let place = elements[Int(slot)].place
    guard slot > Document.tree, elements[Int(slot)].children.isEmpty else { return path(of: slot) }
    if last.parent != place.parent { last = (place.parent, path(of: place.parent)) }
    return last.path.appending(place.name, siblingIndex: Int(place.siblingIndex))
  }

  private func path(of slot: Int32) -> RestorationPath {
    var (above, left): (Int32, [Int32]) = (slot, [])
    while above > Document.tree, known[above] == nil {
      left.append(above)
      above = elements[Int(above)].place.parent
    }
    return left.reversed().reduce(known[above] ?? RestorationPath()) { path, slot in
      let element = elements[Int(slot)]
      let path = path.appending(
        element.place.name, siblingIndex: Int(element.place.siblingIndex))
      known[slot] = path
      return path
    }
  }
}
