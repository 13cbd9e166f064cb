public import RestorationSharing
internal import RestorationTesting

/// The fault of one call of a remote store.
public struct RemoteFault: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case none
    case failure(RemoteStoreError)
    case lostAnswer
    case repeated
    case staleRead
    case silence(Duration?, afterTheCall: Bool)
  }

  let kind: Kind
  private(set) var delay: Duration?

  private init(_ kind: Kind) {
    self.kind = kind
  }

  /// The call throws, and does not reach the store.
  ///
  /// - Parameter error: The error of the call.
  /// - Returns: The fault.
  public static func failure(_ error: RemoteStoreError) -> RemoteFault {
    RemoteFault(.failure(error))
  }

  /// The store cannot be reached: the call throws `unavailable`, and nothing takes place.
  public static let unreachable = failure(unavailable)

  /// The store does what it was asked to do, and then the call throws `unavailable`.
  public static let lostAnswer = RemoteFault(.lostAnswer)

  /// A write reaches the store twice, and the second answer is the one that comes back.
  ///
  /// If the first write took place, the second answer is a refusal: its version is
  /// stored no more. A read is done once.
  public static let repeated = RemoteFault(.repeated)

  /// A load answers with an earlier state, as a replica does that is behind.
  ///
  /// The answer is the state before the last one that this store has seen, or nothing
  /// if there was none. Other calls go on as they are.
  public static let staleRead = RemoteFault(.staleRead)

  /// The call takes longer.
  ///
  /// - Parameter duration: How long the call waits before it reaches the store. If the
  ///   task is cancelled meanwhile, the call throws and does not reach the store.
  /// - Returns: The fault.
  public static func delay(_ duration: Duration) -> RemoteFault {
    RemoteFault(.none).delayed(by: duration)
  }

  /// Nobody answers, until the task is cancelled or the time is over; then the call throws.
  ///
  /// - Parameters:
  ///   - duration: How long the call waits before it throws `unavailable`; nil if only
  ///     cancelling ends it.
  ///   - afterTheCall: Whether the store does its work before the silence.
  /// - Returns: The fault.
  public static func silence(
    for duration: Duration? = nil, afterTheCall: Bool = false
  ) -> RemoteFault {
    RemoteFault(.silence(duration, afterTheCall: afterTheCall))
  }

  /// This fault, after a wait.
  ///
  /// - Parameter duration: How long the call waits first.
  /// - Returns: The fault.
  public func delayed(by duration: Duration) -> RemoteFault {
    var fault = self
    fault.delay = duration
    return fault
  }

  static let unavailable = RemoteStoreError(
    .unavailable, "The test has made the store fail. Try again.")
}

/// How often each fault happens, from 0 for never to 1 for always.
///
/// At most one fault happens to a call, besides a delay.
public struct RemoteFaultRates: Hashable, Sendable {
  /// The rate of ``RemoteFault/unreachable``.
  public var unreachable: Double

  /// The rate of ``RemoteFault/lostAnswer``.
  public var lostAnswer: Double

  /// The rate of ``RemoteFault/repeated``.
  public var repeated: Double

  /// The rate of ``RemoteFault/staleRead``.
  public var staleRead: Double

  /// The longest delay of a call; each call has a delay between nothing and this one.
  public var longestDelay: Duration

  /// Creates rates.
  ///
  /// - Parameters:
  ///   - unreachable: As the property.
  ///   - lostAnswer: As the property.
  ///   - repeated: As the property.
  ///   - staleRead: As the property.
  ///   - longestDelay: As the property.
  public init(
    unreachable: Double = 0, lostAnswer: Double = 0, repeated: Double = 0, staleRead: Double = 0,
    longestDelay: Duration = .zero
  ) {
    self.unreachable = unreachable
    self.lostAnswer = lostAnswer
    self.repeated = repeated
    self.staleRead = staleRead
    self.longestDelay = longestDelay
  }

  /// The fault that one number chooses, from 0 to 1.
  func fault(at number: Double) -> RemoteFault? {
    var end = 0.0
    for (rate, fault) in [
      (unreachable, RemoteFault.unreachable), (lostAnswer, .lostAnswer), (repeated, .repeated),
      (staleRead, .staleRead),
    ] {
      end += rate
      if number < end { return fault }
    }
    return nil
  }
}

/// A call of a remote store.
public struct RemoteCall: Hashable, Sendable {
  /// The method that was called.
  public enum Operation: Hashable, Sendable, CaseIterable {
    /// `load`
    case load
    /// `replace`
    case replace
    /// `append`
    case append
    /// `remove`
    case remove
    /// `names`
    case names

    /// Whether the operation changes the stored states.
    public var isWrite: Bool { self != .load && self != .names }
  }

  /// The number of the call among all calls; the first one is 0.
  public let number: Int

  /// The operation of the call.
  public let operation: Operation

  /// The name of the state; of `names`, the prefix.
  public let name: String

  /// How many bytes were sent to be stored.
  public let byteCount: Int

  /// The fault of the call; nil if it went well.
  public internal(set) var fault: RemoteFault?

  /// Whether a write has taken place, whatever the answer was.
  public internal(set) var tookPlace = false
}
