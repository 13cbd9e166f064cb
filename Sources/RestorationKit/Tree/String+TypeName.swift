extension String {
  /// The name of a type, as `String(describing:)` says it.
  ///
  /// That first asks whether the metatype can describe itself, for which the Swift runtime goes through all
  /// conformances of the program, several times for each type.
  package init(nameOf type: Any.Type) { self = _typeName(type, qualified: false) }
}
