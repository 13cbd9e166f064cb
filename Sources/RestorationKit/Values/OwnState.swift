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
