/**
 * Loaded before each test file: leaves the processes that it starts alone. tap would have them record every
 * file that they load, for coverage, which is off here; a service takes three times as long to start that
 * way.
 */
process.env.__TAPJS_PROCESSINFO_TESTING_NO_REGISTER__ = String(process.pid)
