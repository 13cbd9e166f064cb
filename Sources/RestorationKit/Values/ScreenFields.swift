internal import Synchronization

/// A property wrapper that may be the field of a screen.
protocol RestorableField: SendableMetatype {
  /// The key that the declaration gives, if it does, and the box of the wrapper that is stored at an address.
  static func field(at place: UnsafeRawPointer) -> (key: String?, box: any AnyValueBox)
}

extension Restored: RestorableField {
  static func field(at place: UnsafeRawPointer) -> (key: String?, box: any AnyValueBox) {
    let slot = unsafe place.assumingMemoryBound(to: Self.self).pointee.slot
    return (slot.key, slot.ownBox)
  }
}

/// The fields with ``Restored`` of the screens of one class, which are found once for each class.
struct ScreenFields: Sendable {
  typealias Field = (name: String, offset: Int, type: any RestorableField.Type)

  private static let known = Mutex([ObjectIdentifier: [Field]]())

  /// The fields of a class; none are found in one without reflection metadata.
  static func fields(of type: AnyClass) -> [Field] {
    if let fields = known.withLock({ $0[ObjectIdentifier(type)] }) { return fields }
    var fields: [Field] = []
    StoredProperties.forEach(of: type) { name, offset, type in
      guard let type = type as? any RestorableField.Type else { return }
      fields.append((String(name.drop { $0 == "_" }), offset, type))
    }
    known.withLock { [fields] in $0[ObjectIdentifier(type)] = fields }
    return fields
  }

  /// Calls the body with the key and the box of each field of a screen.
  private static func forEach(of screen: AnyObject, _ body: (String, any AnyValueBox) -> Void) {
    // The object is alive, and its class has a value of the type at the offset.
    let start = unsafe UnsafeRawPointer(Unmanaged.passUnretained(screen).toOpaque())
    for (name, offset, type) in fields(of: type(of: screen)) {
      let (key, box) = unsafe type.field(at: start + offset)
      body(key ?? name, box)
    }
    withExtendedLifetime(screen) {}
  }

  /// Writes all fields of a screen; one that cannot be encoded costs no other.
  static func encode(_ screen: any StateRestoring, with coder: StateEncoder) {
    func note(_ problem: ReportNote) {
      coder.walk.note(problem, coder.slot)
      ValueScope.ofApp.table.note(problem, isSaid: true)
    }
    var keys: Set<String> = []
    forEach(of: screen) { key, box in
      guard keys.insert(key).inserted else { return note(.fieldKeyTwice(key: key)) }
      let error = box.encodeField(with: coder, forKey: key)
      if let error { note(.storageEncodingFailed(key: key, error.reason)) }
    }
  }

  static func restore(_ screen: any StateRestoring, from coder: StateDecoder) {
    forEach(of: screen) { $1.restore(from: coder, forKey: $0) }
  }

  /// Lets all fields of an object have the values of their declarations again, if it is a screen.
  static func reset(_ object: AnyObject) {
    if object is any RestorableScreen { forEach(of: object) { $1.reset() } }
  }
}
