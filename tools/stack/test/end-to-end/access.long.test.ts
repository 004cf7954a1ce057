import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCatalogue } from '@pitboss/errors/catalogue'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { findSecrets } from '../fixtures/find-secrets.ts'
import { startAccessWorld } from './access/access-world.ts'
import { addressesChapter } from './access/addresses-chapter.ts'
import { docsChapter } from './access/docs-chapter.ts'
import { errorsChapter } from './access/errors-chapter.ts'
import { isolationChapter } from './access/isolation-chapter.ts'
import { keysChapter } from './access/keys-chapter.ts'
import { listsChapter } from './access/lists-chapter.ts'
import { peopleChapter } from './access/people-chapter.ts'
import { readinessChapter } from './access/readiness-chapter.ts'

/** The shortest life of a token and of a session, and a busy machine. */
const expiryMs = 75_000

t.test('access to the whole product with two gateways', async (t) => {
  const world = await startAccessWorld(t)
  const { send, stack, witness } = world
  const { seen } = witness
  const oldToken = await world.mint()
  const oldSession = await world.openSession(oldToken, { player_id: 'late', expires_in_s: 60 })

  await t.test('keys', (t) => keysChapter(t, world))
  await t.test('addresses', (t) => addressesChapter(t, world))
  await t.test('people', (t) => peopleChapter(t, world))
  await t.test('errors', (t) => errorsChapter(t, world))
  await t.test('isolation', (t) => isolationChapter(t, world))
  await t.test('lists', (t) => listsChapter(t, world))
  await t.test('the page about access', (t) => docsChapter(t, world))
  await t.test('readiness', (t) => readinessChapter(t, world))

  await t.test(
    'a token that is too old is TOKEN_EXPIRED, but only while its signature is good',
    async (t) => {
      const [head, claims, signature = ''] = oldToken.split('.')
      const forged = `${head}.${claims}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
      const codeOf = async (token: string) => (await send('GET', '/v1/games', { token })).code
      await waitFor(async () => (await codeOf(oldToken)) === 'TOKEN_EXPIRED', {
        timeoutMs: expiryMs,
        everyMs: 250,
      })
      t.equal(await codeOf(forged), 'INVALID_CREDENTIALS')
      const body = { stake: '1.00', bet: { target: '50.00', direction: 'over' } }
      const late = async () =>
        (await send('POST', '/v1/game/rounds', { token: oldSession.playerToken, body })).code
      await waitFor(async () => (await late()) === 'SESSION_EXPIRED', {
        timeoutMs: expiryMs,
        everyMs: 250,
        what: "the session to expire, which a player's token outlives",
      })
    },
  )

  await t.test('every code of the catalogue has answered a request', (t) => {
    t.strictSame([...seen.codes.keys()].toSorted(), Object.keys(errorCatalogue).toSorted())
    t.end()
  })

  await t.test('every answer fits the OpenAPI document', (t) => {
    t.strictSame(seen.misfits, [])
    t.end()
  })

  await t.test('no secret is in any log line or error, and none is shown twice', async (t) => {
    const { secrets } = seen
    for (const [name, value] of privateSettings(stack.dataDir)) witness.remember(name, value)
    t.ok(secrets.size > 60, `${secrets.size} secrets are known`)
    t.equal(await stack.stop(), 0)
    const printed = stack.printed()
    t.match(printed, /"msg":"request.served"/, 'requests were logged')
    t.strictSame(findSecrets(printed, secrets), [], `${printed.length} characters of log`)
    t.strictSame(findSecrets(seen.errors.map(({ text }) => text).join('\n'), secrets), [])
    for (const [secret, name] of secrets) {
      const shown = seen.successes.filter(({ text }) => text.includes(secret))
      if (shown.length > 1) t.fail(`${name} is in ${shown.map(({ what }) => what).join(', ')}`)
    }
  })
})

/** What the runner keeps for itself. */
function privateSettings(dataDir: string): [string, string][] {
  const found: [string, string][] = []
  for (const file of ['connection.json']) {
    const text = readFileSync(join(dataDir, file), 'utf8')
    for (const [, name = '', value = ''] of text.matchAll(
      /"([a-z_0-9]*(?:key|seed)[a-z_0-9]*)": ?"([^"]{20,})"/g,
    )) {
      for (const part of value.split(','))
        found.push([`${name} of ${file}`, part.slice(part.indexOf(':') + 1)])
    }
  }
  const keys = readFileSync(join(dataDir, 'master-keys.json'), 'utf8')
  for (const [, kid = '', key = ''] of keys.matchAll(/([\w-]+):([A-Za-z0-9+/]{43}=)/g))
    found.push([`master key ${kid}`, key])
  return found
}
