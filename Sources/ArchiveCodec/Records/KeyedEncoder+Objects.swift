extension KeyedEncoder {
  /// Writes a reference to an object, and the object itself with the record.
  ///
  /// - Parameters:
  ///   - object: An object of a class that is registered with
  ///     ``RecordBuilder/classes``; nil writes nothing. A subclass needs a
  ///     registration of its own. An object of any other class makes the record
  ///     throw `classNotRegistered`.
  ///   - key: At most 1 KiB of UTF-8.
  public func encodeObject(_ object: (any ArchiveObject)?, forKey key: String) {
    guard let object, begin(key) else { return }
    writeReference(to: object)
  }

  /// Writes references to objects, in their order.
  ///
  /// - Parameters:
  ///   - objects: As in ``encodeObject(_:forKey:)``.
  ///   - key: At most 1 KiB of UTF-8.
  public func encodeObjects(_ objects: [any ArchiveObject], forKey key: String) {
    guard begin(key) else { return }
    let start = writer.openContainer()
    for object in objects { writeReference(to: object) }
    writer.closeContainer(.array, count: objects.count, from: start)
  }

  /// Writes references to objects by name.
  ///
  /// - Parameters:
  ///   - objects: As in ``encodeObject(_:forKey:)``; the names are data.
  ///   - key: At most 1 KiB of UTF-8.
  /// - Complexity: O(*n* log *n*) in the number of objects.
  public func encodeObjects(_ objects: [String: any ArchiveObject], forKey key: String) {
    guard begin(key) else { return }
    let start = writer.openContainer()
    for (name, object) in objects.sorted(by: {
      $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
    }) {
      if name.utf8.count > writer.limits.keyByteCount {
        writer.fail(ArchiveError(.limitExceeded, subject: "bytes of a key"))
      }
      if CombiningMarks.areTooMany(in: name) { writer.fail(CombiningMarks.error()) }
      writer.output.writeKey(inline: name)
      writeReference(to: object)
    }
    writer.closeContainer(.map, count: objects.count, from: start)
  }

  private func writeReference(to object: any ArchiveObject) {
    guard objects.classes.registration(of: object) != nil else {
      writer.fail(ArchiveError(.classNotRegistered, subject: "\(type(of: object))"))
      return writer.writeNull()
    }
    writer.output.writeByte(ValueTag.localReference)
    writer.output.writeVarint(UInt64(objects.number(of: object)))
  }

  /// Writes the objects that were met, and then the objects that they refer to, in the
  /// order in which they are met; so a deep graph costs no call stack.
  func writeObjects() throws {
    defer { objects.truncate(to: 0) }
    var next = 0
    while next < objects.count {
      let object = objects[next]
      guard let registration = objects.classes.registration(of: object) else {
        throw ArchiveError(.classNotRegistered, subject: "\(type(of: object))")
      }
      writer.output.writeByte(ValueTag.object)
      writer.writeNameKey(registration.name)
      writer.output.writeVarint(UInt64(registration.version))
      open()
      try object.encode(to: self)
      close()
      next += 1
    }
  }
}
