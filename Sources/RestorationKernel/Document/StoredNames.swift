/// The names of the elements of a document, which paths share.
package final class StoredNames: Sendable {
  private let elements: [Element]
  private let depths: [Int32]

  struct Name {
    let identifier: String
    let index: Int
    /// Nil for the tree itself, which has no name.
    let parent: Int?
  }

  /// - Complexity: O(*n*) in the elements.
  init(_ document: Document) {
    elements = document.elements
    var depths = [Int32](repeating: 0, count: elements.count)
    for slot in document.subtree(of: Document.tree).dropFirst() {
      depths[Int(slot)] = depths[Int(document[slot].place.parent)] + 1
    }
    self.depths = depths
  }

  subscript(place: Int) -> Name {
    let place = elements[place].place
    return Name(
      identifier: place.name, index: Int(place.siblingIndex),
      parent: place.parent > Document.tree ? Int(place.parent) : nil)
  }

  func depth(of place: Int) -> Int { Int(depths[place]) }
}
