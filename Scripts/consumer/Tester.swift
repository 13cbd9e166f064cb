// A program with RestorationTesting alone.

import RestorationTesting

print(AppUnderTest.self, GoldenStates.self)
