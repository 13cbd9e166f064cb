/// Which stored body an object is given.
package enum BodyChoice {
  /// A stored body, as this version of the app can read it.
  package struct Candidate: Hashable {
    /// Nil for the element's own body.
    package var unread: Kept.Reason?
    package var isReadable: Bool

    package init(unread: Kept.Reason?, isReadable: Bool) {
      (self.unread, self.isReadable) = (unread, isReadable)
    }
  }

  /// Decides in which order the bodies of an element are offered: the first that its object decodes
  /// counts.
  ///
  /// A body of which the decoding threw comes before all others, so that an object that cannot take its
  /// state now throws; of those the newest. Then comes the own body, which is the newest of all, and of the
  /// others the newest.
  ///
  /// - Parameter bodies: The unread bodies, oldest first, and the own body last, if there is one.
  /// - Returns: Places in the array; none if nobody can read any of them.
  package static func order(_ bodies: [Candidate]) -> [Int] {
    let readable = bodies.indices.filter { bodies[$0].isReadable }.reversed()
    let thrown = readable.filter { bodies[$0].unread == .decodeThrew }
    guard let rest = readable.first(where: { bodies[$0].unread != .decodeThrew }) else {
      return thrown
    }
    return thrown + [rest]
  }
}
