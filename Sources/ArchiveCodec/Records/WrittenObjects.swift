/// The objects of the record that is being written, in the order in which they
/// were met.
final class WrittenObjects {
  var classes = ArchiveClasses()
  private var numbers: [ObjectIdentifier: Int] = [:]
  /// Kept alive, so that no other object gets the same identity.
  private var objects: [any ArchiveObject] = []
  /// A property of its own, because every record reads it.
  private(set) var count = 0

  subscript(number: Int) -> any ArchiveObject { objects[number] }

  /// The number of an object; a new one if the object was not met before.
  func number(of object: any ArchiveObject) -> Int {
    let identity = ObjectIdentifier(object)
    if let number = numbers[identity] { return number }
    numbers[identity] = count
    objects.append(object)
    count += 1
    return count - 1
  }

  /// Forgets all objects but the first ones.
  func truncate(to count: Int) {
    guard count < self.count else { return }
    for object in objects[count...] { numbers[ObjectIdentifier(object)] = nil }
    objects.removeSubrange(count...)
    self.count = count
  }
}
