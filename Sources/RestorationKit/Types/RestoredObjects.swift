/// What is back, by its record.
final class RestoredObjects: RestoredReferences {
  private var objects: [UInt64: any StateRestoring] = [:]
  private var paths: [ObjectIdentifier: RestorationPath] = [:]
  /// What an earlier restore brought back.
  private var earlier: KeptRecords?

  /// - Parameter earlier: Knows what a restore brought back that this one adds to.
  init(earlier: KeptRecords? = nil) {
    self.earlier = earlier
  }

  func reserveCapacity(_ count: Int) {
    objects.reserveCapacity(count)
    paths.reserveCapacity(count)
  }

  subscript(record: UInt64) -> (any StateRestoring)? {
    get { objects[record] ?? earlier?.object(record) }
    set { objects[record] = newValue }
  }

  /// Takes an object for a record; returns the path for which it was taken
  /// before, if it was.
  func claim(
    _ object: any StateRestoring, for record: UInt64, path: RestorationPath
  ) -> RestorationPath? {
    if let other = paths.updateValue(path, forKey: ObjectIdentifier(object)) { return other }
    objects[record] = object
    return nil
  }

  func contains(_ object: any StateRestoring) -> Bool {
    paths[ObjectIdentifier(object)] != nil
  }

  func forget() {
    objects = [:]
    paths = [:]
    earlier = nil
  }
}
