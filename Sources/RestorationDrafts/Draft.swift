internal import ArchiveCodec
public import RestorationFoundation

/// What somebody has made and not saved yet, with what it was made from.
///
///     var draft = try Draft<String>(reading: url)
///     draft.content += "more"  // stored with the state of the editor
///     // Maybe in a later launch:
///     if let theirs = try draft.refresh(from: url) {
///       // Somebody has written the file: show both, and let the user choose.
///       draft.choose(draft.content, over: theirs)
///     } else {
///       let bytes = draft.content.fileBytes()
///       try bytes.write(to: url, options: .atomic)
///       try draft.markSaved(bytes, at: url)
///     }
///
/// The library writes no document: the app does, by its own means.
/// Nothing is merged: the app has ``base``, ``content`` and what is there now, which is all that a merge
/// needs. After the decision of the user, make a draft of what stays with the stamp of what the user has
/// *seen*: if somebody writes the file meanwhile, that one is in conflict again.
///
/// The draft is stored as any value: storing it reads no file.
public struct Draft<Content: Codable & Sendable>: Sendable {
  /// What the user has made so far.
  public var content: Content

  /// What the draft began from; nil if the app gave none, or it is larger than may be stored.
  public let base: Content?

  private let origin: Origin

  enum Origin: Hashable, Sendable {
    /// The draft is of something new.
    case nothing
    case file(FileStamp)
    case content(ContentStamp)
    /// Only the base says it, if there is one.
    case base
  }

  /// The largest encoded ``base`` that is stored unless an app says otherwise, in bytes: it is written with
  /// every save of the draft.
  public static var largestBase: Int { 1 << 20 }

  private init(_ content: Content, _ origin: Origin, _ base: Content?, upTo limit: Int) {
    self.content = content
    self.origin = origin
    self.base = base.flatMap { Self.byteCount($0).map { $0 <= limit } == true ? $0 : nil }
  }

  /// Creates a draft of something that is not there yet.
  ///
  /// - Parameter content: The content of the draft.
  public init(_ content: Content) {
    self.init(content, .nothing, nil, upTo: 0)
  }

  /// Creates a draft of a file.
  ///
  /// - Parameters:
  ///   - content: The content of the draft.
  ///   - stamp: The stamp of the file, made before the file was read.
  ///   - base: What was in the file, if the app wants to merge.
  ///   - limit: The largest encoded base that is stored, in bytes.
  /// - Complexity: O(*n*) in the base.
  public init(
    _ content: Content, of stamp: FileStamp, base: Content? = nil, upTo limit: Int = largestBase
  ) {
    self.init(content, .file(stamp), base, upTo: limit)
  }

  /// Creates a draft of what has a version, or whose bytes the app has.
  ///
  /// - Parameters:
  ///   - content: The content of the draft.
  ///   - stamp: The stamp of what the draft is made from.
  ///   - base: What the draft is made from, if the app wants to merge.
  ///   - limit: The largest encoded base that is stored, in bytes.
  /// - Complexity: O(*n*) in the base.
  public init(
    _ content: Content, of stamp: ContentStamp, base: Content? = nil,
    upTo limit: Int = largestBase
  ) {
    self.init(content, .content(stamp), base, upTo: limit)
  }

  /// Creates a draft of something small, which is compared as a whole.
  ///
  /// - Parameters:
  ///   - content: The content of the draft.
  ///   - base: What the draft is made from. One that is larger than ``largestBase`` is not stored, so that
  ///     everything is in conflict with the draft: use a stamp for that.
  /// - Complexity: O(*n*) in the base.
  public init(_ content: Content, from base: Content) {
    self.init(content, .base, base, upTo: Self.largestBase)
  }

  /// The size of an encoded base; nil if it cannot be encoded, and so not be stored.
  private static func byteCount(_ base: Content) -> Int? {
    var byteCount: Int?
    do {
      _ = try KeyedDecoder.encoding { encoder in
        try encoder.encode(base, forKey: "")
        byteCount = encoder.byteCount
      }
    } catch {
      // Too large for a record, or the content throws; then its save says so.
      return nil
    }
    return byteCount
  }
}

/// How a draft relates to what it was made from, as that is now.
public enum DraftState: Hashable, Sendable {
  /// Nobody else has changed it, or it is what the draft says: the draft may be saved.
  case clean
  /// It is another one, or nobody can tell: saving the draft would replace what somebody else has written.
  case conflict
  /// What the draft was made from is not there any more.
  case orphaned
  /// Nothing can be said now: keep the draft, and ask later.
  case unreadable(DraftError)
}

extension Draft {
  /// Compares a file with what the draft was made from.
  ///
  /// A draft of something new is in conflict with every file. The call blocks its thread while the
  /// file is read; see ``FileStamp/compare(with:)``.
  ///
  /// - Parameter url: The URL of the file.
  /// - Returns: The state of the draft. A file that already has what the draft says, since the app ended
  ///   between saving the file and its state, is in conflict by its stamp: compare the contents
  ///   before you ask the user, as ``state(given:)`` does.
  /// - Complexity: As ``FileStamp/compare(with:)``.
  public func state(of url: URL) -> DraftState {
    if case .file(let stamp) = origin {
      switch stamp.compare(with: url) {
      case .same: return .clean
      case .changed, .unknown: return .conflict
      case .gone: return .orphaned
      case .unreadable(let error): return .unreadable(error)
      }
    }
    do throws(DraftError) {
      return state(at: try FileStamp(of: url).content)
    } catch {
      return error.code == .gone ? state(at: nil) : .unreadable(error)
    }
  }

  /// Compares the stamp of what is there now with what the draft was made from.
  ///
  /// - Parameter stamp: The stamp of what is there now, made in the same way; nil if nothing is.
  /// - Returns: The state of the draft, never `unreadable`.
  public func state(at stamp: ContentStamp?) -> DraftState {
    switch (origin, stamp) {
    case (.nothing, nil): .clean
    case (_, nil): .orphaned
    case (.file(let own), let stamp?): own.content.isSame(as: stamp) == true ? .clean : .conflict
    case (.content(let own), let stamp?): own.isSame(as: stamp) == true ? .clean : .conflict
    case (.nothing, _?), (.base, _?): .conflict
    }
  }
}

extension Draft where Content: Equatable {
  /// Compares what is there now, as a whole, with what the draft was made from and with the draft itself.
  ///
  /// - Parameter present: What is there now; nil if nothing is.
  /// - Returns: `clean` if what is there is the base, or what the draft says; `orphaned` if there is nothing;
  ///   else `conflict`. Never `unreadable`.
  public func state(given present: Content?) -> DraftState {
    guard let present else { return origin == .nothing ? .clean : .orphaned }
    return present == base || present == content ? .clean : .conflict
  }
}

extension Draft: Equatable where Content: Equatable {}

extension Draft: Hashable where Content: Hashable {}

extension Draft: Codable {
  private enum Key: String, CodingKey {
    case content, base, file, stamp, isNew
  }

  /// Writes the content, the base and the stamp.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    try values.encode(content, forKey: .content)
    try values.encodeIfPresent(base, forKey: .base)
    switch origin {
    case .nothing: try values.encode(true, forKey: .isNew)
    case .file(let stamp): try values.encode(stamp, forKey: .file)
    case .content(let stamp): try values.encode(stamp, forKey: .stamp)
    case .base: break
    }
  }

  /// Reads a draft.
  ///
  /// An origin that cannot be read, such as one of a later version of the library, is in conflict with everything.
  ///
  /// - Throws: The error of the content. A base that cannot be decoded is left out: the content counts.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    content = try values.decode(Content.self, forKey: .content)
    do {
      base = values.contains(.base) ? try values.decode(Content.self, forKey: .base) : nil
    } catch {
      base = nil
    }
    do {
      origin = try Self.origin(in: values)
    } catch {
      origin = .base
    }
  }

  private static func origin(in values: KeyedDecodingContainer<Key>) throws -> Origin {
    if try values.decodeIfPresent(Bool.self, forKey: .isNew) == true { return .nothing }
    if let stamp = try values.decodeIfPresent(FileStamp.self, forKey: .file) { return .file(stamp) }
    let stamp = try values.decodeIfPresent(ContentStamp.self, forKey: .stamp)
    return stamp.map { .content($0) } ?? .base
  }
}
