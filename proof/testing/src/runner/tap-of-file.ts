import { runningFile } from './running-file.ts'

/** What a test file imports as `tap`: the hooks of a worker load this module once for each file. */
export default runningFile.test
