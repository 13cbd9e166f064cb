// A program with RestorationInspection alone.

import RestorationInspection

print(StoredState.context(of: "main", in: "org.example.consumer"))
