import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { wantedExports } from './package-exports.ts'

/**
 * `npm run exports`: writes into each package.json of the project which of its files other packages import.
 */
const root = fileURLToPath(new URL('../../../', import.meta.url))

for (const [folder, exports] of wantedExports(root)) {
  const file = join(root, folder, 'package.json')
  const before: object = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, `${JSON.stringify({ ...before, exports }, null, 2)}\n`)
}
