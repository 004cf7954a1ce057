import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { readPackages, wantedExports } from '../src/package-exports.ts'
import { importsIn, type Import, readImports } from '../src/read-imports.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const services = ['gateway', 'auth', 'rounds', 'wallet-bridge', 'webhooks']
/** Libraries without input, output or a database. */
const pureLibs = ['errors', 'money', 'fairness', 'contracts']
/** Libraries that run in a browser. */
const browserLibs = ['errors', 'money', 'fairness', 'contracts']
const rooms = ['calls', 'consumers', 'workers', 'actions', 'rules', 'records', 'storage', 'clients']
const gatewayRooms = ['http', 'access', 'limits', 'routes', 'input', 'openapi', 'answers']
const filesOfService = [
  ...['main.ts', 'config.ts', 'app.ts', 'context.ts', 'open-context.ts', 'start-workers.ts', 'metrics.ts'],
  ...['wing.ts', 'hooks.ts', 'all-wings.ts', 'wings'],
]
const filesOfWing = ['wing.ts', 'context.ts', 'metrics.ts']
/** What an action is given, and what wings add to it: types. */
const contexts = ['context.ts']
/** The one file of the core that imports wings, by their doors. */
const mount = 'all-wings.ts'

/**
 * What a room of a service may import of its own service, besides itself. `types` vanish when the code runs.
 */
const mayImport: Readonly<Record<string, { code: readonly string[]; types: readonly string[] }>> = {
  calls: { code: ['actions', 'records'], types: contexts },
  consumers: { code: ['actions', 'records'], types: contexts },
  workers: { code: ['actions', 'records'], types: contexts },
  actions: { code: ['storage', 'clients', 'records', 'rules'], types: contexts },
  clients: { code: ['rules'], types: ['storage'] },
  records: { code: ['rules'], types: ['storage'] },
  storage: { code: ['rules'], types: [] },
  rules: { code: [], types: [] },
}

const packages = readPackages(root)
const importsOf = (pattern: string) => readImports(root, pattern, packages)
const shown = (imports: readonly Import[]) =>
  imports.map(({ file, specifier }) => `${file} imports ${specifier}`)
const isIn = (path: string, folders: readonly string[]) =>
  folders.some((folder) => path.startsWith(`${folder}/`))

/** The wing and the room of a file; a file beside the rooms stands for itself. */
function placeOf(file: string): { wing: string | null; room: string } {
  const [first = '', wing = '', room = ''] = file.split('/').slice(3)
  return first === 'wings' ? { wing, room } : { wing: null, room: first }
}

/** The imports that break the table, or the rule that the core imports no wing, and a wing no other wing. */
function roomBreaches(imports: readonly Import[]): Import[] {
  return imports.filter(({ file, target, isTypeOnly }) => {
    const service = file.split('/')[1] ?? ''
    const from = placeOf(file)
    const rule = mayImport[from.room]
    if (target === null) return false
    if (!target.startsWith(`services/${service}/src/`)) {
      return (
        from.room === 'rules' &&
        !isIn(
          target,
          pureLibs.map((name) => `libs/${name}`),
        )
      )
    }
    const to = placeOf(target)
    if (to.wing !== null && to.wing !== from.wing) {
      return !(from.wing === null && from.room === mount && to.room === 'wing.ts')
    }
    if (rule === undefined) return false
    const isAllowed =
      to.room === from.room || rule.code.includes(to.room) || (isTypeOnly && rule.types.includes(to.room))
    return !isAllowed
  })
}

t.test('every service has the same rooms', (t) => {
  for (const service of services) {
    const entries = globSync(`services/${service}/src/*`, { cwd: root }).map(
      (path) => path.split('/')[3] ?? '',
    )
    const known = [...filesOfService, ...(service === 'gateway' ? gatewayRooms : rooms)]
    t.strictSame(
      entries.filter((entry) => !known.includes(entry)),
      [],
      service,
    )
  }
  const ofWings = globSync('services/*/src/wings/*/*', { cwd: root })
  t.strictSame(
    ofWings.filter((path) => ![...filesOfWing, ...rooms].includes(placeOf(path).room)),
    [],
    'wings have the same rooms, smaller',
  )
  t.end()
})

t.test('rooms import what the table allows; the core imports no wing, and no wing another', (t) => {
  t.strictSame(
    shown(roomBreaches(importsOf('services/{auth,rounds,wallet-bridge,webhooks}/src/**/*.ts'))),
    [],
  )
  t.end()
})

t.test('a wing is entered by its door, from the mount', (t) => {
  const breachesOf = (file: string, path: string) =>
    roomBreaches(importsIn(`services/auth/src/${file}`, `import { one } from '${path}'`, packages)).length
  t.equal(breachesOf('all-wings.ts', './wings/one/wing.ts'), 0)
  t.equal(breachesOf('all-wings.ts', './wings/one/actions/some.ts'), 1, 'by its door')
  t.equal(breachesOf('app.ts', './wings/one/wing.ts'), 1, 'from the mount')
  t.equal(breachesOf('actions/some.ts', '../wings/one/actions/some.ts'), 1, 'the core imports no wing')
  t.equal(breachesOf('wings/other/actions/some.ts', '../../one/rules/some.ts'), 1, 'no wing imports another')
  t.equal(breachesOf('wings/one/actions/some.ts', '../rules/some.ts'), 0, 'its own rooms')
  t.equal(breachesOf('wings/one/actions/some.ts', '../../../storage/some.ts'), 0, 'rooms of the core')
  t.equal(breachesOf('wings/one/calls/some.ts', '../../../storage/some.ts'), 1, 'by the same table')
  t.equal(breachesOf('wings/one/rules/some.ts', '../storage/some.ts'), 1)
  t.end()
})

t.test('the table finds a breach of each of its rows', (t) => {
  const breachesOf = (file: string, text: string) => roomBreaches(importsIn(file, text, packages)).length
  for (const [from, { code, types }] of Object.entries(mayImport)) {
    const file = `services/auth/src/${from}/some-file.ts`
    for (const to of [...rooms, ...contexts]) {
      const path = to.endsWith('.ts') ? `../${to}` : `../${to}/some.ts`
      const value = `import {\n  one,\n  other,\n} from '${path}'`
      const type = `import type { One } from '${path}'`
      t.equal(breachesOf(file, value), code.includes(to) || from === to ? 0 : 1, `${from} imports ${to}`)
      t.equal(
        breachesOf(file, type),
        [...code, ...types, from].includes(to) ? 0 : 1,
        `${from} imports types of ${to}`,
      )
    }
  }
  const rule = 'services/auth/src/rules/some-file.ts'
  t.equal(breachesOf(rule, "import { connectBus } from '@pitboss/bus/connect-bus'"), 1)
  t.equal(breachesOf(rule, "export { isAmount } from '@pitboss/money/amount'"), 0)
  t.equal(breachesOf('services/auth/src/calls/a.ts', "await import('../storage/some.ts')"), 1)
  t.end()
})

t.test('rules do no input or output', (t) => {
  const breaches = importsOf('services/*/src/{,wings/*/}rules/**/*.ts').filter(({ specifier }) =>
    /^(nats|mongodb|undici|fastify|node:(fs|net|http|https|child_process|dns|tls))/.test(specifier),
  )
  t.strictSame(shown(breaches), [])
  t.end()
})

t.test('no part of the project imports what stands above it', (t) => {
  const breaches = (pattern: string, allowed: (target: string, from: Import) => boolean) =>
    shown(importsOf(pattern).filter((one) => one.target !== null && !allowed(one.target, one)))
  const own = (target: string, { file }: Import) =>
    target.startsWith(`${file.split('/').slice(0, 2).join('/')}/`)
  t.strictSame(
    breaches('libs/*/src/**/*.ts', (target) => target.startsWith('libs/')),
    [],
    'libs import libs',
  )
  t.strictSame(
    breaches('services/*/src/**/*.ts', (target, from) => target.startsWith('libs/') || own(target, from)),
    [],
    'services import libs',
  )
  t.strictSame(
    breaches('web/{src,dashboard/src}/**/*.{ts,tsx}', (target) =>
      isIn(target, ['web', ...browserLibs.map((name) => `libs/${name}`)]),
    ),
    [],
    'web imports libs that run in a browser',
  )
  t.strictSame(
    breaches('tools/*/src/**/*.ts', (target) => isIn(target, ['libs', 'tools'])),
    [],
    'tools import libs and tools',
  )
  t.strictSame(
    breaches(
      '{libs,services,tools}/*/test/**/*.ts',
      (target, from) =>
        (isIn(target, ['libs', 'tools', 'proof/testing']) &&
          (own(target, from) || !target.includes('/test/'))) ||
        own(target, from),
    ),
    [],
    'tests import libs, tools and proof/testing',
  )
  t.end()
})

t.test('libraries import each other without circles', (t) => {
  const edges = new Map<string, Set<string>>()
  for (const { file, target } of importsOf('libs/*/src/**/*.ts')) {
    const [from = '', to = ''] = [file.split('/')[1], target?.split('/')[1]]
    if (target?.startsWith('libs/') === true && from !== to) {
      edges.set(from, (edges.get(from) ?? new Set()).add(to))
    }
  }
  const reaches = (from: string, goal: string, seen = new Set<string>()): boolean =>
    [...(edges.get(from) ?? [])].some((next) => {
      if (next === goal) return true
      if (seen.has(next)) return false
      seen.add(next)
      return reaches(next, goal, seen)
    })
  t.strictSame(
    [...edges.keys()].filter((name) => reaches(name, name)),
    [],
  )
  t.end()
})

t.test('packages export what others import, and nothing else', (t) => {
  for (const [folder, wanted] of wantedExports(root)) {
    const { exports = {} }: { exports?: Record<string, string> } = JSON.parse(
      readFileSync(join(root, folder, 'package.json'), 'utf8'),
    )
    t.strictSame(exports, wanted, `${folder}: npm run exports writes this list`)
  }
  t.end()
})

t.test('only config.ts and main.ts of a service read the environment', (t) => {
  const readers = globSync('services/*/src/**/*.ts', { cwd: root }).filter((file) =>
    /process\.env/.test(readFileSync(join(root, file), 'utf8')),
  )
  t.strictSame(
    readers.filter((file) => !/src\/(config|main)\.ts$/.test(file)),
    [],
  )
  t.end()
})

t.test('only storage folders open collections, and each is held to its tenants', (t) => {
  const files = globSync('services/*/src/**/*.ts', { cwd: root })
  const openers = files.filter((file) => /\.collection\s*[<(]/.test(readFileSync(join(root, file), 'utf8')))
  t.strictSame(
    openers.filter((file) => !/src\/(wings\/[^/]+\/)?storage\//.test(file)),
    [],
  )
  const owners = new Set(openers.map((file) => file.split('/')[1] ?? ''))
  const held = globSync('services/*/test/storage/isolation.test.ts', { cwd: root })
  t.strictSame(new Set(held.map((file) => file.split('/')[1])), owners)
  t.end()
})
