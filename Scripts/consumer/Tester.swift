// A program with RestorationTesting alone.

import RestorationTesting

print(FaultyRemoteStateStore.self, GoldenStates.self)
