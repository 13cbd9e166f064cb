/// The objects of one record, each made at the first request.
final class ObjectGraph {
  let record: KeyedDecoder
  private let classes: ArchiveClasses
  /// The entries by the numbers of the objects.
  private var entries: [Entry] = []
  private var isRunning = false
  /// How many objects are being made in one step, each for another.
  private var callDepth = 0
  /// The objects that the present call has made.
  private var made: [Int] = []
  /// How many of the made objects have their values.
  private var finishedCount = 0
  /// The last error that has its whole path already.
  private var located: ArchiveError?

  private struct Entry {
    /// The offset of the object's class name.
    let offset: UInt32
    /// The offset of the reference by which the object was met first, and the object
    /// with that reference.
    var slot: UInt32 = 0
    var referrer: Int32 = -1
    var state = State.stored
  }

  private enum State {
    case stored
    case underConstruction
    case made(any ArchiveObject)
    case failed
  }

  /// Notes the offsets of a record's objects; makes none.
  init(_ record: KeyedDecoder, classes: ArchiveClasses) throws(ArchiveError) {
    self.record = record
    self.classes = classes
    let block = record.block.bytes
    let bytes = block.span.extracting(record.record)
    var cursor = ByteCursor(bytes, from: record.objectsOffset, to: bytes.count)
    let limit = DecodedMemory.limit(recordByteCount: bytes.count)
    while !cursor.isAtEnd {
      let size = MemoryLayout<Entry>.stride + DecodedMemory.instance
      guard (entries.count + 1) * size <= limit else {
        throw DecodedMemory.error(at: cursor.offset)
      }
      _ = try cursor.readByte(bytes)
      entries.append(Entry(offset: UInt32(truncatingIfNeeded: cursor.offset)))
      _ = try cursor.readKey(bytes)
      _ = try cursor.readVarint(bytes)
      _ = try cursor.readValueHeader(bytes)
    }
  }

  /// Runs code that asks for objects.
  ///
  /// The outermost call gives all objects that it made their values, or makes all of them unusable.
  func run<Value>(_ body: () throws -> Value) throws -> Value {
    guard !isRunning else { return try body() }
    isRunning = true
    defer {
      isRunning = false
      made = []
      finishedCount = 0
    }
    do {
      let value = try body()
      while finishedCount < made.count {
        try finish(made[finishedCount])
        finishedCount += 1
      }
      return value
    } catch {
      // Objects with values refer to objects without, so all made objects are lost.
      for number in made { entries[number].state = .failed }
      throw error
    }
  }

  /// The object that a reference names, for a slot of a class.
  ///
  /// The reference lies at the slot in the values of the referrer, which is -1 for the
  /// values of the record.
  func object<Object: ArchiveObject>(
    _ number: UInt64, as type: Object.Type, slot: Int, referrer: Int
  ) throws -> Object {
    guard let number = Int(exactly: number), number < entries.count else {
      throw ArchiveError(.malformed, offset: slot, subject: "object reference")
    }
    if entries[number].slot == 0 {
      entries[number].slot = UInt32(truncatingIfNeeded: slot)
      entries[number].referrer = Int32(truncatingIfNeeded: referrer)
    }
    func failure(_ code: ArchiveError.Code, _ subject: String) -> ArchiveError {
      let error = ArchiveError(
        code, offset: slot, path: path(to: slot, in: referrer), subject: subject)
      located = error
      return error
    }
    let name = try className(of: number)
    guard let registration = classes[name] else { throw failure(.classNotRegistered, name) }
    guard registration.fills.contains(ObjectIdentifier(type)) else {
      throw failure(.classRefused, "found \(name), expected \(type)")
    }
    switch entries[number].state {
    case .made(let object):
      guard let typed = object as? Object else {
        throw failure(.classRefused, "found \(name), expected \(type)")
      }
      return typed
    case .underConstruction: throw failure(.objectCycle, name)
    case .failed: throw failure(.objectFailed, name)
    case .stored: break
    }
    let decoder = try decoder(of: number)
    guard decoder.version <= registration.version else {
      throw failure(.classTooNew, "\(name) of version \(decoder.version)")
    }
    guard callDepth < record.block.callLimit else {
      throw failure(.limitExceeded, "depth of objects that are made in one step")
    }
    guard let object = try make(number, registration, decoder) as? Object else {
      throw failure(.classRefused, "found \(name), expected \(type)")
    }
    return object
  }

  private func make(
    _ number: Int, _ registration: ArchiveClasses.Registration, _ decoder: ObjectDecoder
  ) throws -> any ArchiveObject {
    let object: any ArchiveObject
    switch registration.make {
    case .inTwoSteps(let make): object = make()
    case .inOneStep(let make):
      entries[number].state = .underConstruction
      callDepth += 1
      defer { callDepth -= 1 }
      do {
        object = try make(decoder)
      } catch {
        entries[number].state = .failed
        throw locate(error, number)
      }
    }
    entries[number].state = .made(object)
    made.append(number)
    return object
  }

  private func finish(_ number: Int) throws {
    guard case .made(let object) = entries[number].state,
      let object = object as? any CyclicArchiveObject
    else { return }
    do {
      try object.decode(from: decoder(of: number))
    } catch {
      throw locate(error, number)
    }
  }

  // MARK: Reading

  private func className(of number: Int) throws(ArchiveError) -> String {
    let block = record.block.bytes
    let bytes = block.span.extracting(record.record)
    var cursor = ByteCursor(bytes, from: Int(entries[number].offset), to: bytes.count)
    return record.text(of: try cursor.readKey(bytes))
  }

  private func decoder(of number: Int) throws(ArchiveError) -> ObjectDecoder {
    let block = record.block.bytes
    let bytes = block.span.extracting(record.record)
    var cursor = ByteCursor(bytes, from: Int(entries[number].offset), to: bytes.count)
    _ = try cursor.readKey(bytes)
    let version = UInt32(truncatingIfNeeded: try cursor.readVarint(bytes))
    let values = try KeyedDecoder(ValueReader(bytes, at: cursor.offset), in: record)
    return ObjectDecoder(values, version: version, number: number, graph: self)
  }

  // MARK: Errors

  /// Puts the path of an object in front of the path of an error in its values.
  private func locate(_ error: any Error, _ number: Int) -> any Error {
    guard let error = error as? ArchiveError, error != located else { return error }
    let entry = entries[number]
    let above = path(to: Int(entry.slot), in: Int(entry.referrer))
    let whole = above.reversed().reduce(error) { $0.at($1) }
    located = whole
    return whole
  }

  /// More keys than these are left out in the middle of a path.
  private static let longestPath = 64

  /// The keys that lead to a reference, from the record's own values on.
  private func path(to slot: Int, in referrer: Int) -> [String] {
    var path: [String] = []
    var (slot, referrer) = (slot, referrer)
    while path.count < Self.longestPath {
      let values = referrer < 0 ? record : (try? decoder(of: referrer))?.values
      path.append(values?.key(containing: slot) ?? "?")
      guard referrer >= 0 else { return path.reversed() }
      (slot, referrer) = (Int(entries[referrer].slot), Int(entries[referrer].referrer))
    }
    return ["…"] + path.reversed()
  }
}
