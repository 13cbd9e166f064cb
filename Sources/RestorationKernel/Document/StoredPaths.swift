/// The paths of the elements of a document, each made when somebody asks for it.
///
/// Paths share their beginnings, so that the paths of all elements take linear memory and time.
final class StoredPaths {
  private let elements: [Element]
  /// The paths of elements with others below them.
  private var known: [Int32: RestorationPath] = [:]

  init(_ document: Document) { elements = document.elements }

  subscript(slot: Int32) -> RestorationPath {
    var (above, left): (Int32, [Int32]) = (slot, [])
    while above > Document.tree, known[above] == nil {
      left.append(above)
      above = elements[Int(above)].place.parent
    }
    return left.reversed().reduce(known[above] ?? RestorationPath()) { path, slot in
      let element = elements[Int(slot)]
      let path = path.appending(
        element.place.name, siblingIndex: Int(element.place.siblingIndex))
      if !element.children.isEmpty { known[slot] = path }
      return path
    }
  }
}
