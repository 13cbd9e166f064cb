// A store of states to test.

import RestorationSharing
import Testing

func makeEmptyTable() async throws -> String { "" }
func MyStore(_ table: String) async throws -> any RemoteStateStore { throw CancellationError() }
