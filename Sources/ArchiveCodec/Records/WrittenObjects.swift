/// The objects of the record that is being written, in the order in which they
/// were met.
final class WrittenObjects {
  var classes = ArchiveClasses()
  private var numbers: [ObjectIdentifier: Int] = [:]
  /// Kept alive, so that identities stay unique.
  private var objects: [any ArchiveObject] = []
  /// Apart from the array, because every record asks for it.
  private(set) var count = 0

  subscript(number: Int) -> any ArchiveObject { objects[number] }

  /// The number of an object, new if it was not met before.
  func number(of object: any ArchiveObject) -> Int {
    let identity = ObjectIdentifier(object)
    if let number = numbers[identity] { return number }
    numbers[identity] = count
    objects.append(object)
    count += 1
    return count - 1
  }

  /// Forgets all but the first objects; those that were met before stay.
  func truncate(to count: Int) {
    guard count < self.count else { return }
    for object in objects[count...] { numbers[ObjectIdentifier(object)] = nil }
    objects.removeSubrange(count...)
    self.count = count
  }
}
