import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { collectProduction } from './production-files.ts'

/**
 * `node tools/deploy/src/collect-main.ts services/gateway OUT`: the files of one image, for the Dockerfile.
 */
const root = fileURLToPath(new URL('../../../', import.meta.url)).replace(/\/$/, '')
const [start, out] = parseArgs({ allowPositionals: true }).positionals
if (start === undefined || out === undefined) {
  process.stderr.write('usage: collect-main.ts services/gateway|…|tools/ops OUT\n')
  process.exit(2)
}
collectProduction(root, start, out)
