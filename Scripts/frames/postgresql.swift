// A server with a database.

import RestorationPostgreSQL

func frame(connectionString: String) throws {
  // The block stands here.
}
