/// The classes whose objects may be stored and made.
///
/// An archive can only select among the registered classes: the name of any other class
/// is an error, even if the program has such a class.
///
///     var classes = ArchiveClasses()
///     try classes.register(Person.self, name: "Person", version: 2, aliases: ["Human"])
public struct ArchiveClasses {
  struct Registration {
    let type: any ArchiveObject.Type
    let name: String
    let version: UInt32
    /// The class itself, and the classes whose slots it may fill.
    let fills: Set<ObjectIdentifier>
    let make: Make
  }

  enum Make {
    case inOneStep((ObjectDecoder) throws -> any ArchiveObject)
    case inTwoSteps(() -> any CyclicArchiveObject)
  }

  private var names: [ByteName: Registration] = [:]
  private var types: [ObjectIdentifier: Registration] = [:]

  /// No classes.
  public init() {}

  /// Registers a class whose objects are made in one step.
  ///
  /// - Parameters:
  ///   - type: The class; its subclasses need registrations of their own.
  ///   - name: The name in archives, for ever: 1 to 255 bytes of UTF-8.
  ///   - version: The version that is written; an object of a newer version is refused.
  ///   - aliases: Names that the class had in earlier versions.
  ///   - superclasses: Other classes that the objects may be decoded as.
  /// - Throws: ``ArchiveError`` with `classNameTaken` if a name is empty, too
  ///   long or another class's, or if the class has another name already.
  public mutating func register<Object: ImmutableArchiveObject>(
    _ type: Object.Type, name: String, version: UInt32 = 1, aliases: [String] = [],
    standingFor superclasses: [any ArchiveObject.Type] = []
  ) throws(ArchiveError) {
    try register(
      type, name, version, aliases, superclasses, .inOneStep { try Object(from: $0) })
  }

  /// Registers a class whose objects are made in two steps.
  ///
  /// - Parameters:
  ///   - type: The class; its subclasses need registrations of their own.
  ///   - name: The name in archives, for ever: 1 to 255 bytes of UTF-8.
  ///   - version: The version that is written; an object of a newer version is refused.
  ///   - aliases: Names that the class had in earlier versions.
  ///   - superclasses: Other classes that the objects may be decoded as.
  /// - Throws: ``ArchiveError`` with `classNameTaken`, as the other form does.
  public mutating func register<Object: CyclicArchiveObject>(
    _ type: Object.Type, name: String, version: UInt32 = 1, aliases: [String] = [],
    standingFor superclasses: [any ArchiveObject.Type] = []
  ) throws(ArchiveError) {
    try register(type, name, version, aliases, superclasses, .inTwoSteps { Object() })
  }

  private mutating func register(
    _ type: any ArchiveObject.Type, _ name: String, _ version: UInt32, _ aliases: [String],
    _ superclasses: [any ArchiveObject.Type], _ make: Make
  ) throws(ArchiveError) {
    let identity = ObjectIdentifier(type)
    for entry in [name] + aliases {
      guard (1...ArchiveLimits.classNameByteCount).contains(entry.utf8.count),
        names[ByteName(entry)].map({ ObjectIdentifier($0.type) == identity }) ?? true,
        types[identity].map({ $0.name.hasSameBytes(as: name) }) ?? true
      else { throw ArchiveError(.classNameTaken, subject: entry) }
    }
    let registration = Registration(
      type: type, name: name, version: version,
      fills: Set(([type] + superclasses).map { ObjectIdentifier($0) }), make: make)
    for entry in [name] + aliases { names[ByteName(entry)] = registration }
    types[identity] = registration
  }

  subscript(name: String) -> Registration? { names[ByteName(name)] }

  func registration(of object: any ArchiveObject) -> Registration? {
    types[ObjectIdentifier(type(of: object))]
  }
}

@available(*, unavailable, message: "make it where the objects are")
extension ArchiveClasses: Sendable {}
