internal import ArchiveCodec

/// The state of an object that the library writes and reads for it, beside its hooks.
extension StateEncoder {
  func encodeAll(of object: any StateRestoring, _ traits: TypeTraits) throws {
    try using {
      if traits.contains(.stateful), let object = object as? any StatefulRestoring {
        try encodeState(of: object)
      }
      try object.encodeRestorableState(with: self)
    }
  }

  /// Runs code of the app that writes with the coder.
  ///
  /// - Throws: The error of the body; `keyTaken` if it has used the key of what the library stores.
  func using(_ body: () throws -> Void) throws {
    try body()
    guard hasMetTakenKey else { return }
    throw RestorationError.taken(BuiltInKey.container)
  }
}
