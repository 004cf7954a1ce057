import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { rootFolder, telemetryFiles } from './telemetry-files.ts'

/**
 * `npm run telemetry`: writes docs/metrics.md, the rules of `slo.yaml` and the boards. With `--check` it
 * writes nothing, names the files that are old, and ends with 1 when there are any.
 */
const isCheck = process.argv.includes('--check')
const old = [...telemetryFiles()].filter(([file, text]) => present(file) !== text)
for (const [file, text] of old) {
  if (isCheck) console.error(`${file.replace(rootFolder, '')} is old: npm run telemetry writes it`)
  else {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}
if (isCheck && old.length > 0) process.exitCode = 1

function present(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
