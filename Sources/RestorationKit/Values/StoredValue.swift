internal import ArchiveCodec

/// What has changed of values, each with the number of its last change.
typealias ValueChanges = [ValueName: Int]

/// A value as its record has it: whose it is, and what nobody need have decoded.
struct StoredValue: Sendable {
  static let (windowKey, nameKey) = ("window", "key")

  let record: UInt64
  let name: ValueName
  let content: ValueContent

  /// Nil for a record of another form, whose bytes stay.
  init?(_ record: UInt64, in records: StoredRecords) {
    do {
      guard let values = try records.decoder(of: record) else { return nil }
      let window: String? = try values.decodeIfPresent(forKey: Self.windowKey)
      name = ValueName(window: window ?? "", key: try values.decode(forKey: Self.nameKey))
      content = try ValueContent(copying: ValueContent.key, from: values)
      self.record = record
    } catch {
      return nil
    }
  }
}

extension LaunchMark {
  func leavesOut(_ name: ValueName) -> Bool {
    leavesAnyOut && isLeftOut(subject(ofValue: name.tag))
  }
}

extension StateKeeper {
  /// The values of the app and its windows.
  var values: ValueTable { settings.values ?? use(ValueTable()) }

  @discardableResult
  func use(_ values: ValueTable) -> ValueTable {
    settings.values = values
    values.begin(owner)
    return values
  }
}
