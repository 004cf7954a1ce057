import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { chromiumPath } from './open-browser.ts'
import { chooseFiles } from './runner/choose-files.ts'
import { readHistory } from './runner/history.ts'
import { fingerprintOf, keepVerdicts, readVerdicts } from './runner/verdicts.ts'

/**
 * `npm run test:long`: the proofs that take long. Explorers, simulations, a minute of chaos, stories of whole
 * products, engines and images (`*.long.test.ts`), the pages in a browser, and rehearsals. A proof that has
 * passed on this machine is skipped until something changes that it imports or starts. `--all` skips none;
 * names of files, folders and rehearsals choose.
 */
const root = fileURLToPath(new URL('../../../', import.meta.url))
const rehearsals = [
  'scale',
  'rotation',
  'database-away',
  'broker-away',
  'broker-node',
  'broker-data',
  'clock',
]

type Proof = { readonly name: string; readonly file: string }

process.exitCode = await main()

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { all: { type: 'boolean', default: false } },
  })
  const tests: Proof[] = chooseFiles(root, [], true).map(({ path }) => ({ name: path, file: path }))
  const pages: Proof[] = globSync('web/test/**/*.browser.ts', { cwd: root })
    .toSorted()
    .map((file) => ({ name: file, file }))
  const acts: Proof[] = rehearsals.map((name) => ({ name, file: 'proof/chaos/src/rehearsals/main.ts' }))
  const kept = values.all ? {} : readVerdicts(root)
  const isWanted = ({ name }: Proof) =>
    positionals.length === 0 || positionals.some((path) => name === path || name.startsWith(`${path}/`))
  if (![...tests, ...pages, ...acts].some(isWanted)) {
    console.error(
      'no long test matches: give the path of a file or of its folder, or the name of a rehearsal',
    )
    return 1
  }
  const fingerprints = new Map<Proof, string>()
  const due = (proofs: readonly Proof[]) =>
    proofs.filter((proof) => {
      if (!isWanted(proof)) return false
      const fingerprint = fingerprintOf(root, proof.file)
      fingerprints.set(proof, fingerprint)
      if (kept[proof.name] !== fingerprint) return true
      console.log(`kept    ${proof.name}`)
      return false
    })
  const failed: Proof[] = []
  const passed: Proof[] = []

  const files = due(tests)
  if (files.length > 0) {
    const startedAt = new Date().toISOString()
    const code = await run(['proof/testing/src/run-tests.ts', '--long', ...files.map(({ file }) => file)])
    if (code !== 0 && code !== 1) return code
    const last = readHistory(root).findLast(({ at }) => at >= startedAt)
    for (const proof of files) {
      const hasPassed = last !== undefined && proof.file in last.files && !last.failed.includes(proof.file)
      ;(hasPassed ? passed : failed).push(proof)
    }
  }
  const hasBrowser = chromiumPath() !== null
  if (!hasBrowser && pages.some(isWanted)) console.log('the pages are left out: there is no Chromium here')
  for (const proof of hasBrowser ? due(pages) : [])
    ((await run(['web/test/run-browser-tests.ts', proof.file])) === 0 ? passed : failed).push(proof)
  for (const proof of due(acts)) ((await run([proof.file, proof.name])) === 0 ? passed : failed).push(proof)

  keepVerdicts(
    root,
    passed.map((proof) => [proof.name, fingerprints.get(proof) ?? '']),
  )
  if (failed.length > 0) console.log(`failed:\n${failed.map(({ name }) => `  ${name}`).join('\n')}`)
  console.log(`${passed.length} passed, ${failed.length} failed`)
  return failed.length === 0 ? 0 : 1
}

async function run(args: readonly string[]): Promise<number> {
  console.log(`\n${args[0]} ${args.length > 3 ? `${args.length - 1} arguments` : args.slice(1).join(' ')}`)
  const child = spawn(process.execPath, [...args], { cwd: root, stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  return typeof code === 'number' ? code : 1
}
