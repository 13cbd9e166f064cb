internal import ArchiveCodec

/// The state of an object that the library writes and reads for it, beside its hooks.
extension StateEncoder {
  func encodeOwnState(of object: any StateRestoring, _ traits: TypeTraits) throws {
    if traits.contains(.stateful), let object = object as? any StatefulRestoring {
      try encodeState(of: object)
    }
  }
}

extension StateDecoder {
  func decodeOwnState(of object: any StateRestoring, _ traits: TypeTraits) throws {
    if traits.contains(.stateful), let object = object as? any StatefulRestoring {
      try decodeState(of: object)
    }
  }
}
