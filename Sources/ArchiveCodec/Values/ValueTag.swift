/// The first byte of a value.
///
/// Small integers, short strings and small containers carry their size in the tag. Any
/// tag that is not listed is refused.
enum ValueTag {
  static let smallIntegers: ClosedRange<UInt8> = 0x00...0x3F
  static let smallNegatives: ClosedRange<UInt8> = 0x40...0x4F
  static let shortStrings: ClosedRange<UInt8> = 0x50...0x7F
  static let smallArrays: ClosedRange<UInt8> = 0x80...0x8F
  static let smallMaps: ClosedRange<UInt8> = 0x90...0x9F
  static let null: UInt8 = 0xA0
  static let `false`: UInt8 = 0xA1
  static let `true`: UInt8 = 0xA2
  static let positiveInteger: UInt8 = 0xA3
  static let negativeInteger: UInt8 = 0xA4
  static let float: UInt8 = 0xA5
  static let double: UInt8 = 0xA6
  static let date: UInt8 = 0xA7
  static let uuid: UInt8 = 0xA8
  static let url: UInt8 = 0xA9
  static let string: UInt8 = 0xAA
  static let bytes: UInt8 = 0xAB
  static let array: UInt8 = 0xAC
  static let map: UInt8 = 0xAD
  static let packedArray: UInt8 = 0xAE
  static let recordReference: UInt8 = 0xAF
  static let `extension`: UInt8 = 0xB2
  static let name: UInt8 = 0xB3

  /// The bytes of a value whose tag alone determines their number; nil for other tags.
  @inline(__always)
  static func byteCount(_ tag: UInt8) -> Int? {
    switch tag {
    case smallIntegers, smallNegatives, null, `false`, `true`: 1
    case shortStrings: Int(tag - shortStrings.lowerBound) + 1
    case double, date: 9
    case float: 5
    case uuid: 17
    default: nil
    }
  }
}

/// The width of the numbers in a packed array; integers have the narrowest that fits.
enum PackedElement: UInt8, Sendable {
  case int8 = 1
  case int16
  case int32
  case int64
  case uint64
  case float
  case double

  var byteCount: Int {
    switch self {
    case .int8: 1
    case .int16: 2
    case .int32, .float: 4
    case .int64, .uint64, .double: 8
    }
  }

  /// The narrowest element that holds every integer from `low` to `high`.
  init(holding low: Int64, through high: UInt64) {
    self =
      if high > UInt64(Int64.max) {
        .uint64
      } else if low >= Int64(Int8.min), high <= UInt64(Int8.max) {
        .int8
      } else if low >= Int64(Int16.min), high <= UInt64(Int16.max) {
        .int16
      } else if low >= Int64(Int32.min), high <= UInt64(Int32.max) {
        .int32
      } else {
        .int64
      }
  }
}
