internal import ArchiveCodec

/// The state of an object that the library writes and reads for it, beside its hooks.
extension StateEncoder {
  /// Writes the `restorableState` of an object, or its fields with ``Restored``.
  ///
  /// With `isInline` all is in the state itself, also fields that have records of their own.
  func encodeOwnState(
    of object: any StateRestoring, _ traits: TypeTraits, isInline: Bool = false
  ) throws {
    if traits.contains(.stateful), let object = object as? any StatefulRestoring {
      try encodeState(of: object)
    }
    if traits.contains(.screen) { try ScreenFields.encode(object, with: self, isInline: isInline) }
  }
}

extension StateDecoder {
  /// Reads the `restorableState` of an object, or its fields with ``Restored``.
  ///
  /// With `keepsUnfit` a stored field that does not fit goes on being stored until the app sets it.
  func decodeOwnState(
    of object: any StateRestoring, _ traits: TypeTraits, keepsUnfit: Bool = true
  ) throws {
    if traits.contains(.stateful), let object = object as? any StatefulRestoring {
      try decodeState(of: object)
    }
    if traits.contains(.screen) {
      try ScreenFields.restore(object, from: self, keepsUnfit: keepsUnfit)
    }
  }
}

extension StateRestoring {
  /// Lets go of the records of all fields, which go on with records that are made when they are written.
  func letGoOfFieldRecords() { ScreenFields.letGoOfRecords(of: self) }
}

extension StoredTree.Element {
  /// Puts the fields into the state that are stored in records of their own.
  ///
  /// - Parameter record: The class and the state of a record; nil if there is none.
  /// - Returns: Whether there are any.
  @discardableResult
  mutating func inlineFields(
    _ record: (UInt64) -> (className: String, state: KeyedDecoder?)?
  ) -> Bool {
    let inlined = values.state.flatMap { state in
      ScreenFields.inlined(state) { number in
        guard let found = record(number), found.className == FieldRecord.className else {
          return nil
        }
        return found.state
      }
    }
    guard let inlined else { return false }
    values = StoredTree.Values(builtIn: values.builtIn, state: inlined)
    return true
  }
}

extension Rows {
  func isRootOfValues(_ number: RowNumber) -> Bool { className(of: number) == ValuesNode.className }

  func isValueOrField(_ number: RowNumber) -> Bool {
    [ValueNode.className, FieldRecord.className].contains(className(of: number))
  }
}
