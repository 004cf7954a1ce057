import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { checkBooks } from '../../../../tools/stack/test/fixtures/check-books.ts'
import { exchangeUserKeys } from '@pitboss/engines/nats/exchange-user-keys'
import { waitFor } from '@pitboss/testing/wait-for'
import { z } from 'zod'
import { openRotationWorld, type RotationWorld } from './rotation-world.ts'
import type { Rehearsal } from './rehearsal.ts'
import { readPrivateJson, writePrivateJson } from './private-json.ts'
import { restartInTurn } from './restart-in-turn.ts'

const withMasterKeys = ['auth', 'rounds', 'wallet-bridge', 'webhooks']
const all = [...withMasterKeys, 'gateway']
const masterKeys = z.object({ master_keys: z.record(z.string(), z.string()) })
const connection = z.looseObject({ nats_nkey_seed: z.string() })
const seals = z.object({
  keys: z.array(z.object({ key: z.string(), state: z.string(), values: z.number() })),
  rewritten: z.number(),
  damaged: z.number(),
})
const signingKeys = z.array(z.object({ kid: z.string() }))

/** Every secret of a running product is exchanged while clients are at work. */
export const rotation: Rehearsal = {
  about: 'exchanges every secret',
  success: 'every secret was exchanged, and no client lost a request',
  async open(folder, cleanup) {
    const world = await openRotationWorld(folder, cleanup)
    const steps = exchanges.map(({ name, run }) => ({ name, run: () => run(world) }))
    return { clients: world.clients, steps }
  },
}

/** The exchange of every secret, in the order in which docs/runbook.md names them. */
const exchanges: readonly { readonly name: string; run(world: RotationWorld): Promise<string> }[] = [
  {
    name: 'the signing key of tokens',
    async run({ ops }) {
      await ops('keys', 'rotate')
      return 'tokens of the former key verify until they have run out'
    },
  },
  {
    name: 'the master keys of all services',
    async run(world) {
      const path = join(world.folder, 'master-keys.json')
      const { master_keys: former } = readPrivateJson(path, masterKeys)
      const fresh = (name: string) => fromMap(next, name)
      const next = new Map(
        Object.keys(former).map((name) => [name, `${name}-2:${randomBytes(32).toString('base64')}`]),
      )
      const give = async (keysOf: (own: string, next: string) => string) => {
        const keys = Object.entries(former).map(([name, own]) => [name, keysOf(own, fresh(name))])
        writePrivateJson(path, { master_keys: Object.fromEntries(keys) })
        await restartInTurn(world.product(), withMasterKeys)
        await world.clients.playOn()
      }
      await give((own, later) => `${own},${later}`)
      await give((own, later) => `${later},${own}`)
      const before = seals.parse(await world.ops('seal', 'status'))
      expect(
        before.keys.some(({ state, values }) => state === 'FORMER' && values > 0),
        'something is sealed under a former key',
      )
      const { rewritten, damaged } = seals.parse(
        await world.ops('seal', 'rewrite', '--reason', 'rehearsal of a rotation'),
      )
      expect(damaged === 0, `${damaged} values do not open`)
      const after = seals.parse(await world.ops('seal', 'status'))
      const left = after.keys.filter(({ state, values }) => state !== 'CURRENT' && values > 0)
      expect(left.length === 0, `former keys are still needed: ${JSON.stringify(left)}`)
      await give((_own, later) => later)
      return `every replica restarted three times, ${rewritten} values sealed anew, the former keys are gone`
    },
  },
  {
    name: 'the NATS keys of all services and of operations',
    async run(world) {
      const { seeds, dropFormer } = await exchangeUserKeys(join(world.folder, 'nats'))
      await restartInTurn(world.product(), all)
      const path = join(world.folder, 'connection.json')
      writePrivateJson(path, { ...readPrivateJson(path, connection), nats_nkey_seed: seeds.ops })
      await dropFormer()
      await world.ops('keys', 'list')
      return 'every replica restarted once with the new key, then the broker dropped the former ones'
    },
  },
  {
    name: "the database's login",
    async run(world) {
      const loginOf = () => new URL(world.demo().engines.mongodb.url).password
      const { kind } = world.demo().engines.mongodb
      const former = loginOf()
      await world.restart()
      if (former === '') return `${kind} asks for none on this machine; the whole product was restarted`
      expect(loginOf() !== former, 'the login is another one')
      return `${kind} knows one login, which it draws at its start: the whole product was restarted. A deployment has a second user meanwhile (docs/runbook.md), and no gap`
    },
  },
  {
    name: "a person's password",
    async run(world) {
      world.clients.mayRenew(true)
      await world.changePassword()
      await world.clients.playOn()
      world.clients.mayRenew(false)
      return 'the sessions of the person end: she signs in with the new one'
    },
  },
  {
    name: 'the secret of an endpoint, with overlap',
    async run(world) {
      const { webhook_id, url } = world.demo().receiver
      const { secret } = await world.asOwner(200, `webhooks/${webhook_id}/rotate-secret`)
      await world.clients.playOn()
      await world.allDelivered()
      const put = await world.put(new URL('/demo/secrets', url).href, { secrets: [secret] })
      expect(put === 204, `the receiver answered ${put}`)
      await world.clients.playOn()
      await world.allDelivered()
      return 'the receiver verified with the former secret, then with the new one alone'
    },
  },
  {
    name: 'the secrets of both wallets, without overlap',
    async run(world) {
      // Until the wallet has the new one it refuses stakes, and nothing moves. A round whose win it refused
      // is not over before the next attempt, which pays it.
      world.clients.mayRefuse('WALLET_REJECTED', 'ROUND_IN_PROGRESS')
      for (const [environment, url] of [
        ['TEST', world.demo().wallet.url],
        ['LIVE', world.demo().live_wallet.url],
      ] as const) {
        const { secret } = await world.asOwner(200, `wallets/${environment}/rotate-secret`)
        const put = await world.put(`${url}/sandbox/secret`, { secret })
        expect(put < 300, `the wallet answered ${put}`)
      }
      await world.clients.playOn()
      world.clients.mayRefuse()
      await world.clients.playOn()
      return 'no overlap was asked for: until the wallet has the new secret WALLET_REJECTED is expected, and ROUND_IN_PROGRESS while a win is owed that it refused'
    },
  },
  {
    name: 'the secrets of both key pairs',
    async run(world) {
      const { test, live } = world.demo()
      const { api_secret: liveSecret } = await world.asOwner(200, `credentials/${live.api_key}/rotate`)
      await world.mint({ api_key: live.api_key, api_secret: String(liveSecret) })
      const { api_secret } = await world.asOwner(200, `credentials/${test.api_key}/rotate`)
      await world.clients.playOn()
      await world.useKeyPair({ api_key: test.api_key, api_secret: String(api_secret) })
      return 'tokens of the former secret went on, the new one mints'
    },
  },
  {
    name: 'a round that was open all the while',
    async run({ endOpenRound }) {
      return `it was ${await endOpenRound()} under keys that are all new`
    },
  },
  {
    name: 'a signing key that leaked',
    async run(world) {
      world.clients.mayRenew(true)
      const former = world.tokenOfPlayer
      for (const { kid } of signingKeys.parse(await world.ops('keys', 'list'))) {
        await world.ops('keys', 'retire', kid, '--now', '--reason', 'rehearsal of a leak')
      }
      await waitFor(async () => (await former()) === 401, { what: 'former tokens to end' })
      return 'every token ends at once: clients mint, sign in and open the game anew'
    },
  },
  {
    name: 'the books',
    async run(world) {
      await world.clients.end()
      const wrong = await checkBooks(world.demo(), world.operator(), world.since, { withinMs: 120_000 })
      expect(wrong.length === 0, wrong.join('\n'))
      return 'rounds, movements, the wallet, events and deliveries say the same'
    },
  },
]

function expect(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new Error(otherwise)
}

function fromMap(map: ReadonlyMap<string, string>, name: string): string {
  const found = map.get(name)
  if (found === undefined) throw new Error(`there is nothing for ${name}`)
  return found
}
