import type { Test } from 'tap'

/**
 * The file that a worker runs, from the project's root, and its test. Empty in a file that is run by itself.
 */
export const runningFile: { path: string; test: Test | null } = { path: '', test: null }
