/// The state of an object that the library writes and reads for it, beside its hooks.
extension StateEncoder {
  /// Writes the `restorableState` of an object, or its fields with ``Restored``.
  func encodeOwnState(of object: any StateRestoring, _ traits: TypeTraits) throws {
    if traits.contains(.stateful), let object = object as? any StatefulRestoring {
      try encodeState(of: object)
    }
    if traits.contains(.screen) { try ScreenFields.encode(object, with: self) }
  }
}

extension StateDecoder {
  /// Reads the `restorableState` of an object, or its fields with ``Restored``.
  func decodeOwnState(of object: any StateRestoring, _ traits: TypeTraits) throws {
    if traits.contains(.stateful), let object = object as? any StatefulRestoring {
      try decodeState(of: object)
    }
    if traits.contains(.screen) { try ScreenFields.restore(object, from: self) }
  }
}
