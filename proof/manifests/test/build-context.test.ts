import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const read = (name: string) => readFileSync(`${root}${name}`, 'utf8')

/** What an installation writes that opens it: the documented way puts it where images are built. */
const secrets = [
  'deploy/compose/.env',
  'deploy/compose/.env.production',
  'services/auth/.env',
  '.env',
  'data/master-keys.json',
  'casino/nats/nats/nkeys.json',
  '.pitboss/demo.json',
]
const sources = [
  'package.json',
  'services/auth/src/app.ts',
  'web/dashboard/src/pages/account.tsx',
  'libs/storage/src/keyring.ts',
]

/** The pattern of an ignore file as an expression over paths. One without a slash holds at any depth. */
function expressionOf(pattern: string): RegExp {
  const isDeep = !pattern.replace(/\/$/, '').includes('/') || pattern.startsWith('**/')
  const name = pattern
    .replace(/^\*\*\//, '')
    .replace(/^\//, '')
    .replace(/\/$/, '')
  const text = name.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*')
  return new RegExp(`^${isDeep ? '(.*/)?' : ''}${text}(/.*)?$`)
}

for (const file of ['.gitignore', 'deploy/Dockerfile.dockerignore']) {
  t.test(`${file} leaves out what opens an installation`, (t) => {
    const patterns = read(file)
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    const isIgnored = (path: string) => patterns.some((pattern) => expressionOf(pattern).test(path))
    for (const path of secrets) t.ok(isIgnored(path), path)
    for (const path of sources) t.notOk(isIgnored(path), path)
    t.end()
  })
}

t.test('an image is built of what is named, and of nothing that holds secrets', (t) => {
  const copied = [...read('deploy/Dockerfile').matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(
    ([, words = '']) => words.split(' ').slice(0, -1),
  )
  t.ok(copied.length > 0)
  for (const name of copied) {
    t.match(name, /^\.?[a-z][a-z.-]*$/, 'a name, and not all that is there')
    t.ok(existsSync(`${root}${name}`), name)
  }
  t.strictSame(
    secrets.filter((path) => copied.includes(path.split('/')[0] ?? '')),
    ['services/auth/.env'],
    'the rest is out of reach, and this one is ignored',
  )
  t.end()
})
