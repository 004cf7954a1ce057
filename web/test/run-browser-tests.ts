import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * `npm run test:browser`: the pages in a real Chromium against the whole product, file by file, or the files
 * that are named; pictures go to `artifacts/`. Of these `npm test` runs the story alone, and only where there
 * is a browser.
 */
const root = fileURLToPath(new URL('../../', import.meta.url))
const all = globSync(['web/test/**/*.browser.ts', 'web/test/*-story.test.ts'], { cwd: root }).sort()
const named = process.argv.slice(2)
const unknown = named.filter((file) => !all.includes(file))
if (unknown.length > 0) {
  console.error(`There is no browser test ${unknown.join(', ')}.`)
  process.exit(2)
}
const files = named.length === 0 ? all : named

for (const file of ['web/build.ts', ...files]) {
  console.error(file)
  const child = spawn(process.execPath, [file], { cwd: root, stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  if (code !== 0) process.exitCode = 1
}
