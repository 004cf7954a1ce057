import { ops } from './ops.ts'

process.exitCode = await ops(process.argv.slice(2))
