@_spi(Reflection) internal import Swift

/// The stored properties of classes, as their metadata says.
///
/// A `Mirror` reads the properties of an object to name them, and the process ends where one is
/// `unowned` and gone.
enum StoredProperties {
  /// Calls the body with each stored property of a class and of its superclasses; with none of a
  /// class in a module that was compiled without reflection metadata.
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - body: Takes the name, the place in objects of the class, and the type.
  static func forEach(of type: AnyClass, _ body: (String, Int, Any.Type) -> Void) {
    // The runtime begins with the properties of the uppermost class.
    _ = unsafe _forEachField(of: type, options: ofClass) { name, offset, type, _ in
      body(unsafe String(cString: name), offset, type)
      return true
    }
  }

  private static var ofClass: _EachFieldOptions { _EachFieldOptions(rawValue: 1) }
}
