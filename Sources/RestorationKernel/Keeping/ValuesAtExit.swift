/// The values of an app, for the end of the process on a thread on which no node can be asked; this
/// core has none yet.
enum ValuesAtExit {
  static func store(within limit: Duration, isLast: Bool) {}
}
