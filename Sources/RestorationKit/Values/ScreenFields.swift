internal import ArchiveCodec
internal import Synchronization

/// A property wrapper that may be the field of a screen.
protocol RestorableField: SendableMetatype {
  /// The wrapper that is stored at an address.
  static func stored(at place: UnsafeRawPointer) -> any RestorableField

  /// The key that the declaration gives; nil if it gives none.
  var key: String? { get }

  /// The box of the value, of which a screen has one for each field.
  var fieldBox: any RestorableFieldBox { get }
}

extension Restored: RestorableField {
  var fieldBox: any RestorableFieldBox { slot.fieldBox }

  static func stored(at place: UnsafeRawPointer) -> any RestorableField {
    unsafe place.assumingMemoryBound(to: Self.self).pointee
  }

  var key: String? { slot.key }
}

/// The fields with ``Restored`` of the screens of one class.
///
/// The fields are found once for each class.
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

  /// Notes that a class has a field, so that a field which cannot be found becomes a problem.
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

  /// A field of more bytes has a record of its own, which is not written when others change.
  private static let largestByteCount = 4096

  /// The key of the references to the records of large fields.
  private static let recordsKey = "@fields"

  /// Writes all fields of a screen; with `isInline` none has a record of its own.
  static func encode(
    _ screen: any StateRestoring, with coder: StateEncoder, isInline: Bool = false
  ) throws {
    let type: AnyClass = type(of: screen)
    let fields = of(type).fields
    if fields.isEmpty, known.withLock({ $0.used.contains(ObjectIdentifier(type)) }) {
      coder.note(.fieldsNotFound(className: String(nameOf: type)))
    }
    var keys: Set<String> = []
    var records: [(key: String, record: FieldRecord)] = []
    for place in fields {
      let field = place.field(of: screen)
      let key = field.key ?? place.name
      guard keys.insert(key).inserted else {
        coder.note(.fieldKeyTwice(key: key))
        continue
      }
      let box = field.fieldBox
      if isInline || box.record == nil {
        let start = coder.byteCount
        do {
          try coder.attempt { try box.encodeField(with: coder, forKey: key) }
        } catch {
          coder.note(.storageEncodingFailed(key: key, error.reason))
          box.encodeLastField(with: coder, forKey: key)
          continue
        }
        guard !isInline, coder.byteCount - start > largestByteCount else { continue }
        coder.remove(key)
        box.record = FieldRecord(key, of: box)
      }
      guard let record = box.record else { continue }
      record.screen = screen
      records.append((key, record))
    }
    guard !records.isEmpty else { return }
    coder.encodeContainer(forKey: recordsKey) { coder in
      for (key, record) in records { coder.encodeOwn(record, forKey: key) }
    }
  }

  /// Reads all stored fields of a screen.
  ///
  /// With `keepsUnfit` a stored field that does not fit goes on being stored until the app sets it.
  static func restore(
    _ screen: any StateRestoring, from coder: StateDecoder, keepsUnfit: Bool
  ) throws {
    let records = try coder.container(forKey: recordsKey)
    for place in of(type(of: screen)).fields {
      let field = place.field(of: screen)
      let key = field.key ?? place.name
      let box = field.fieldBox
      if let record = try records?.decodeObject(FieldRecord.self, forKey: key) {
        record.take(box, of: screen, with: coder, keepsUnfit: keepsUnfit)
      } else {
        box.restore(from: coder, forKey: key, keepsUnfit: keepsUnfit)
      }
    }
  }

  /// Lets go of the records of all fields, which go on with records that are made when they are written.
  static func letGoOfRecords(of screen: any StateRestoring) {
    for place in of(type(of: screen)).fields { place.field(of: screen).fieldBox.record = nil }
  }

  /// A stored state with the fields in it that are stored in records of their own.
  ///
  /// - Parameters:
  ///   - state: The state of a screen.
  ///   - record: The state of a record of a field; nil if there is none.
  /// - Returns: The state; nil if no field has a record, or the record of one cannot be read, or the state
  ///   has no room for all fields.
  static func inlined(
    _ state: KeyedDecoder, _ record: (UInt64) -> KeyedDecoder?
  ) -> KeyedDecoder? {
    do {
      guard let records = try state.container(forKey: recordsKey) else { return nil }
      return try KeyedDecoder.encoding { encoder in
        for key in state.keys where key != recordsKey { try encoder.copy(key, from: state) }
        for key in records.keys {
          guard let field = try records.reference(forKey: key).flatMap(record) else {
            throw ArchiveError(.keyNotFound, path: [key])
          }
          try encoder.copy(ValueStore.valueKey, from: field, as: key)
        }
      }
    } catch {
      // The references stay, so the fields are stored as long as their records are.
      return nil
    }
  }
}

extension ScreenFields.Field {
  /// The field of an object of the class in which it was found, or of a subclass.
  fileprivate func field(of object: AnyObject) -> any RestorableField {
    defer { withExtendedLifetime(object) {} }
    // The object is alive, and its class has a value of this type at the offset.
    let start = unsafe UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    return unsafe type.stored(at: start + offset)
  }
}
