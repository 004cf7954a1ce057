import type { Test } from 'tap'

/** The test of the file that a worker runs. */
export const runningFile: { test: Test | null } = { test: null }
