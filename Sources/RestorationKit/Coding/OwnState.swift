internal import ArchiveCodec

/// The state of an object that the library writes and reads for it, beside its hooks.
extension StateEncoder {
  func encodeOwnState(of object: any StateRestoring, _ traits: TypeTraits) throws {
    if let object = object as? any StatefulRestoring {
      try encode(object.restorableState, forKey: Self.stateKey)
    }
    if traits.contains(.screen) { ScreenFields.encode(object, with: self) }
  }
}

extension StateDecoder {
  func decodeOwnState(of object: any StateRestoring, _ traits: TypeTraits) throws {
    if let object = object as? any StatefulRestoring {
      try decodeState(of: object)
    }
    if traits.contains(.screen) { ScreenFields.restore(object, from: self) }
  }

  /// Reads a field of a screen as far as it fits, and notes what does not.
  ///
  /// - Returns: The value, and what is stored if that does not fit whole; nil if nothing is stored that can be
  ///   kept: what refers to objects is kept by a hook alone.
  func decodeField<Value: Codable>(
    forKey key: String, standIn other: Value
  ) -> (value: Value?, unfit: ValueContent?)? {
    var value: Value?
    do {
      guard contains(key), let found = try values.decodeIfPresent(forKey: key, standIn: other)
      else { return nil }
      restored.note(found, at: now.slot)
      if found.isWhole { return (found.value, nil) }
      value = found.value
    } catch {
      restored[now.slot].note(.fieldReplaced(key: key, error.reason))
      restored[now.slot].isReplaced = true
    }
    var refers = false
    let unfit = try? ValueContent(copying: key, from: values) { _ in
      refers = true
      return nil
    }
    return refers ? value.map { ($0, nil) } : (value, unfit)
  }
}
