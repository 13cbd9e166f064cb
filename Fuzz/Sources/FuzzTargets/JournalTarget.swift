import ArchiveCodec

/// Changes, cuts and damage in any order, against a model in a dictionary.
///
/// Each operation is a byte, and its arguments follow. After each, the file
/// opens as the last state whose bytes are intact, or does not open.
enum JournalTarget {
  static func run(_ input: [UInt8]) throws(Finding) {
    var arguments = input[...]
    var model = JournalModel()
    for _ in 0..<48 {
      guard let operation = arguments.popFirst() else { break }
      func next() -> Int { Int(arguments.popFirst() ?? 0) }
      switch operation & 7 {
      case 0, 1: try model.change(record: next(), text: next(), newKey: operation > 127)
      case 2: try model.remove([next(), next()])
      case 3: try model.damage { $0.removeLast(min($0.count, next() << (operation >> 4))) }
      case 4:
        let place = next() << 8 | next()
        try model.damage { bytes in
          guard !bytes.isEmpty else { return }
          bytes[bytes.count - 1 - place % bytes.count] ^= 1 << (operation >> 5)
        }
      case 5: try model.reopen()
      case 6: try model.compact()
      default: try model.repeatCommit(next(), prefix: next())
      }
      try model.check()
    }
  }

  static var seeds: [[UInt8]] {
    [
      [0, 1, 10, 0, 2, 20, 128, 1, 30, 5, 2, 1, 0, 0, 3, 9],
      [0, 1, 10, 1, 2, 20, 3, 5, 0, 3, 7, 5, 3, 1, 0, 4, 40],
      [0, 1, 255, 1, 2, 20, 4, 0, 70, 0, 3, 7, 6, 0, 1, 1, 36, 1, 0, 5],
      [0, 1, 10, 1, 2, 20, 1, 3, 20, 7, 1, 255, 5, 0, 4, 40, 7, 2, 30, 0, 4, 41],
      [0, 1, 10] + [UInt8](repeating: 1, count: 30) + [6, 5, 0, 7, 7],
    ]
  }
}
