import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const importOf = /(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g
const pureLibs = new Set(['errors', 'money', 'fairness', 'contracts'])

type Import = { file: string; specifier: string; target: string }

/** Every import of every source file, with relative ones resolved to a path from the root. */
function importsOf(pattern: string): Import[] {
  return globSync(pattern, { cwd: root }).flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    return [...text.matchAll(importOf)].map(([, specifier = '']) => ({
      file,
      specifier,
      target: specifier.startsWith('.') ? relative(root, join(root, dirname(file), specifier)) : specifier,
    }))
  })
}

const shown = (imports: Import[]) => imports.map(({ file, specifier }) => `${file} imports ${specifier}`)

t.test('no service imports another service', async (t) => {
  const breaches = importsOf('services/*/src/**/*.ts').filter(({ file, target }) => {
    const own = file.split('/')[1]
    return (
      (target.startsWith('services/') && target.split('/')[1] !== own) ||
      /^@pitboss\/(gateway|auth|rounds|wallet-bridge|webhooks)(\/|$)/.test(target)
    )
  })
  t.strictSame(shown(breaches), [])
})

t.test('libraries never import services', async (t) => {
  const breaches = importsOf('libs/*/src/**/*.ts').filter(
    ({ target }) =>
      target.startsWith('services/') ||
      /^@pitboss\/(gateway|auth|rounds|wallet-bridge|webhooks)(\/|$)/.test(target),
  )
  t.strictSame(shown(breaches), [])
})

t.test(
  'rules are pure: domain folders import neither transport, storage code, clients nor input and output',
  async (t) => {
    const breaches = importsOf('services/*/src/domain/**/*.ts').filter(({ file, specifier, target }) => {
      if (specifier.startsWith('@pitboss/')) return !pureLibs.has(specifier.split('/')[1] ?? '')
      if (specifier.startsWith('.')) {
        const inside = target.split('/').slice(3)
        const folder = inside.length > 1 ? inside[0] : ''
        if (folder === 'domain' || folder === '') return false
        return !isTypeOnly(file, specifier)
      }
      return /^(nats|mongodb|undici|fastify|node:(fs|net|http|https|child_process|dns|tls))/.test(specifier)
    })
    t.strictSame(shown(breaches), [])
  },
)

t.test('only config.ts and main.ts of a service read the environment', async (t) => {
  const readers = globSync('services/*/src/**/*.ts', { cwd: root }).filter((file) =>
    /process\.env/.test(readFileSync(join(root, file), 'utf8')),
  )
  t.strictSame(
    readers.filter((file) => !/src\/(config|main)\.ts$/.test(file)),
    [],
  )
})

t.test('only storage folders open collections, and each is held to its tenants', async (t) => {
  const files = globSync('services/*/src/**/*.ts', { cwd: root })
  const openers = files.filter((file) => /\.collection\s*[<(]/.test(readFileSync(join(root, file), 'utf8')))
  t.strictSame(
    openers.filter((file) => !/src\/storage\//.test(file)),
    [],
  )
  const services = new Set(openers.map((file) => file.split('/')[1] ?? ''))
  const held = globSync('services/*/test/storage/isolation.test.ts', { cwd: root })
  t.strictSame(new Set(held.map((file) => file.split('/')[1])), services)
})

function isTypeOnly(file: string, specifier: string): boolean {
  const text = readFileSync(join(root, file), 'utf8')
  const statements = text.split('\n').filter((line) => line.includes(`'${specifier}'`))
  return statements.every((line) => line.startsWith('import type') || /^} from/.test(line))
}
