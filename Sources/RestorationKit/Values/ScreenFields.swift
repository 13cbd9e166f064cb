internal import Synchronization

/// A property wrapper that may be the field of a screen.
protocol RestorableField: SendableMetatype {
  /// The wrapper that is stored in a place.
  static func stored(at place: UnsafeRawPointer) -> any RestorableField

  /// The key that it was given.
  var key: String? { get }

  func encode(with coder: StateEncoder, forKey key: String) throws
  func restore(from coder: StateDecoder, forKey key: String)
}

extension Restored: RestorableField {
  static func stored(at place: UnsafeRawPointer) -> any RestorableField {
    unsafe place.assumingMemoryBound(to: Self.self).pointee
  }

  var key: String? { slot.key }

  func encode(with coder: StateEncoder, forKey key: String) throws {
    try slot.fieldBox.encodeField(with: coder, forKey: key)
  }

  func restore(from coder: StateDecoder, forKey key: String) {
    slot.fieldBox.restore(from: coder, forKey: key)
  }
}

/// The fields with ``Restored`` of the screens of one class.
///
/// They are found once for each class.
struct ScreenFields: Sendable {
  fileprivate struct Field: Sendable {
    let name: String
    let offset: Int
    let type: any RestorableField.Type
  }

  private struct Known {
    var fields: [ObjectIdentifier: ScreenFields] = [:]
    /// The classes of screens of which a field was read or set.
    var used: Set<ObjectIdentifier> = []
  }

  private static let known = Mutex(Known())

  private let fields: [Field]

  static func of(_ type: AnyClass) -> ScreenFields {
    if let known = known.withLock({ $0.fields[ObjectIdentifier(type)] }) { return known }
    let found = ScreenFields(finding: type)
    known.withLock { $0.fields[ObjectIdentifier(type)] = found }
    return found
  }

  /// Notes that a class has a field, so that one which cannot be found is a problem.
  static func noteUse(of type: AnyClass) {
    known.withLock { _ = $0.used.insert(ObjectIdentifier(type)) }
  }

  private init(finding type: AnyClass) {
    var fields: [Field] = []
    StoredProperties.forEach(of: type) { name, offset, type in
      guard let type = type as? any RestorableField.Type else { return }
      fields.append(Field(name: String(name.drop { $0 == "_" }), offset: offset, type: type))
    }
    self.fields = fields
  }

  // MARK: State

  /// Writes all fields of a screen.
  static func encode(_ screen: AnyObject, with coder: StateEncoder) throws {
    let type: AnyClass = type(of: screen)
    let fields = of(type).fields
    if fields.isEmpty, known.withLock({ $0.used.contains(ObjectIdentifier(type)) }) {
      coder.note(.fieldsNotFound(className: String(describing: type)))
    }
    var keys: Set<String> = []
    for place in fields {
      let field = place.field(of: screen)
      let key = field.key ?? place.name
      guard keys.insert(key).inserted else {
        coder.note(.fieldKeyTwice(key: key))
        continue
      }
      try field.encode(with: coder, forKey: key)
    }
  }

  /// Reads all fields that are stored of a screen.
  static func restore(_ screen: AnyObject, from coder: StateDecoder) {
    for place in of(type(of: screen)).fields {
      let field = place.field(of: screen)
      field.restore(from: coder, forKey: field.key ?? place.name)
    }
  }
}

extension ScreenFields.Field {
  /// The field of an object of the class in which it was found, or of a subclass.
  fileprivate func field(of object: AnyObject) -> any RestorableField {
    defer { withExtendedLifetime(object) {} }
    // The object is alive, and has a value of this type there: its class says so.
    let start = unsafe UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    return unsafe type.stored(at: start + offset)
  }
}
