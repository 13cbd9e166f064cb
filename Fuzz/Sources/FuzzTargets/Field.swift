import ArchiveCodec
import ArchiveForge
import Foundation

/// One value of a record, decoded as what the model says that it is.
struct Field {
  let decoder: KeyedDecoder
  let key: String

  func check(_ value: ModelValue) throws(Finding) {
    switch value {
    case .null:
      try expect(Bool.self, failsWith: .typeMismatch)
    case .bool(let expected): try equal(expected, value)
    case .integer(let expected): try checkInteger(expected, value)
    case .float(let bits): try equal(Float(bitPattern: bits), value, \.bitPattern)
    case .double(let bits):
      try equal(Double(bitPattern: bits), value, \.bitPattern)
      _ = decoding(Float.self)
    case .date(let bits):
      try equal(
        Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)), value,
        \.timeIntervalSinceReferenceDate.bitPattern)
    case .uuid: try checkIfItDecodes(UUID.self, value, mayFail: false)
    case .url: try checkIfItDecodes(URL.self, value)
    case .string(let text):
      try equal(String(decoding: text, as: UTF8.self), value, { Array($0.utf8) })
    case .bytes(let bytes): try equal(Data(bytes), value)
    case .packedIntegers(let expected): try checkPacked(expected, value)
    case .packedFloats(let expected):
      try equal(expected.map { Float(bitPattern: $0) }, value, { $0.map(\.bitPattern) })
    case .packedDoubles(let expected):
      try equal(expected.map { Double(bitPattern: $0) }, value, { $0.map(\.bitPattern) })
    case .extension:
      try promise(decoder.contains(key), "no value")
    case .name(let expected):
      if case .inline(let bytes) = expected {
        try promise(
          (try? decoder.name(forKey: key)) == String(decoding: bytes, as: UTF8.self),
          "another name")
      } else {
        try promise((try? decoder.name(forKey: key)) ?? nil != nil, "no name")
      }
    case .reference(let expected):
      try promise((try? decoder.reference(forKey: key)) == expected, "another reference")
    case .array: try checkArray(value)
    case .map: break
    }
  }

  private func checkInteger(_ expected: Int128, _ value: ModelValue) throws(Finding) {
    func check<Integer: FixedWidthInteger & ArchiveValue>(_ type: Integer.Type) throws(Finding) {
      guard let fitting = Integer(exactly: expected) else {
        return try expect(type, failsWith: .numberOutOfRange)
      }
      try equal(fitting, value)
    }
    try check(Int8.self)
    try check(UInt8.self)
    try check(UInt16.self)
    try check(Int32.self)
    try check(Int.self)
    try check(UInt64.self)
    try expect(String.self, failsWith: .typeMismatch)
  }

  private func checkPacked(_ expected: [Int128], _ value: ModelValue) throws(Finding) {
    func check<Integer: FixedWidthInteger & ArchiveValue>(_ type: Integer.Type) throws(Finding) {
      let fitting = expected.compactMap { Integer(exactly: $0) }
      guard fitting.count == expected.count else {
        return try expect([Integer].self, failsWith: .numberOutOfRange)
      }
      try equal(fitting, value)
    }
    try check(Int8.self)
    try check(UInt32.self)
    try check(Int.self)
    try check(UInt64.self)
  }

  private func checkArray(_ value: ModelValue) throws(Finding) {
    try checkIfItDecodes([String].self, value)
    try checkIfItDecodes([Bool].self, value)
    try checkIfItDecodes([URL].self, value)
    try checkIfItDecodes([UUID].self, value)
    try checkIfItDecodes([Date].self, value)
    try checkIfItDecodes([Data].self, value)
    try checkIfItDecodes([[String]].self, value)
    try checkIfItDecodes([[String: Bool]].self, value)
    // Plain arrays of numbers are stored packed when they are encoded again.
    _ = decoding([Int].self)
    if case .array(let elements) = value, elements.allSatisfy(\.isPackedDoubles) {
      try checkIfItDecodes([[Double]].self, value)
    } else {
      _ = decoding([[Double]].self)
    }
    _ = try? decoder.references(forKey: key)
  }

  // MARK: -

  /// What decodes is encoded in the same bytes; what does not is another type.
  func checkIfItDecodes<Value: ArchiveValue>(
    _ type: Value.Type, _ value: ModelValue, mayFail: Bool = true
  ) throws(Finding) {
    switch decoding(type) {
    case .success(let decoded): try comesBack(decoded, value)
    case .failure(let error):
      try promise(
        [.typeMismatch, .malformed].contains(error.code) && mayFail
          || error.subject == "combining marks in a row", "\(type): \(error)")
    }
  }

  private func equal<Value: ArchiveValue & Equatable>(
    _ expected: Value, _ value: ModelValue
  ) throws(Finding) {
    try equal(expected, value, \.self)
  }

  private func equal<Value: ArchiveValue, Bits: Equatable>(
    _ expected: Value, _ value: ModelValue, _ bits: (Value) -> Bits
  ) throws(Finding) {
    guard case .success(let decoded) = decoding(Value.self) else {
      throw Finding("no \(Value.self)")
    }
    try promise(bits(decoded) == bits(expected), "another \(Value.self)")
    try comesBack(decoded, value)
  }

  private func decoding<Value: ArchiveValue>(_ type: Value.Type) -> Result<Value, ArchiveError> {
    Result { () throws(ArchiveError) in try decoder.decode(type, forKey: key) }
  }

  private func expect(
    _ type: (some ArchiveValue).Type, failsWith code: ArchiveError.Code
  ) throws(Finding) {
    guard case .failure(let error) = decoding(type), error.code == code else {
      throw Finding("\(type) does not fail with \(code)")
    }
  }

  private func comesBack(_ decoded: some ArchiveValue, _ value: ModelValue) throws(Finding) {
    let builder = RecordBuilder(keys: ["key"])
    do {
      try builder.append(record: 1) { $0.encode(decoded, forKey: "key") }
      let entry = ModelValue.Entry(key: .symbol(0), value: value)
      let maps = try builder.finish().unsealed.maps
      guard maps == [ModelValue.map([entry]).encoded] else {
        throw Finding("\(type(of: decoded)) has another encoding")
      }
    } catch let finding as Finding {
      throw finding
    } catch {
      throw Finding("\(type(of: decoded)) cannot be encoded again: \(error)")
    }
  }
}

extension ModelValue {
  fileprivate var isPackedDoubles: Bool { if case .packedDoubles = self { true } else { false } }
}
