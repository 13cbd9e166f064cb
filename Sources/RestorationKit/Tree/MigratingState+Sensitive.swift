internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension MigratingState {
  /// Puts values with a sensitivity where they were encoded, without values whose time
  /// is over, and without forgotten secrets.
  func put(_ values: KeyedDecoder, at clock: Date, _ secrets: (any Subkeys)?) -> OpenedValues {
    var opened = OpenedValues()
    let stored: [StoredSensitiveValue]
    do {
      stored = try StoredSensitiveValue.all(in: values)
    } catch {
      opened.unreadable = [NodeRecord.sensitiveKey]
      return opened
    }
    for value in stored {
      let name = value.keys.joined(separator: ".")
      if let age = value.age, age.end <= clock {
        opened.expired.append(name)
        continue
      }
      do {
        guard let bytes = try bytes(of: value, secrets) else {
          opened.forgotten.append(name)
          continue
        }
        // An archive cannot have deeper containers, so no save has written this value.
        guard value.keys.count <= ArchiveLimits.standard.depth else {
          throw ArchiveError(.limitExceeded, subject: "depth")
        }
        try put(
          try ValueContent(bytes: bytes).open(), at: value.keys[...],
          since: value.age?.since)
        if let id = value.subkey { opened.subkeys.append(id) }
      } catch {
        opened.unreadable.append(name)
      }
    }
    return opened
  }
  /// The content of a value; nil if its subkey is forgotten.
  ///
  /// - Throws: `ArchiveError` with `damaged` if a secret cannot be opened.
  private func bytes(
    of value: StoredSensitiveValue, _ secrets: (any Subkeys)?
  ) throws(ArchiveError) -> [UInt8]? {
    let bytes = Array(value.content)
    guard let id = value.subkey else { return bytes }
    guard let subkey = secrets?[id] else { return nil }
    guard let content = try subkey.open(bytes) else {
      throw ArchiveError(.damaged, subject: "secret")
    }
    return content
  }
}
