import FuzzTargets

/// Called by libFuzzer once, before the first input.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
  _: UnsafeMutablePointer<CInt>?, _: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
  FuzzTarget.codable.writeSeedsIfAsked()
}

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  FuzzTarget.codable.run(start, count)
}
