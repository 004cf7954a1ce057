import { join } from 'node:path'
import type { Cleanup } from '@pitboss/bench/harness/cleanup'
import { type Product, startProduct } from '@pitboss/bench/harness/start-product'
import { freePort } from '@pitboss/engines/processes/free-port'
import type { DemoFile } from '@pitboss/stack/demo-file'
import { createOperatorClient, type OperatorClient, send } from '@pitboss/testing/operator-client'
import { waitFor } from '@pitboss/testing/wait-for'
import { readReceived } from '../../../../tools/stack/test/fixtures/read-received.ts'
import { type ClientsAtWork, type Seat, startClients } from './clients-at-work.ts'
import { twoOfEach } from './open-world.ts'
import { orderOps } from './order-ops.ts'

type KeyPair = DemoFile['test']

/** A running product with clients at work on it, and what the steps of a rotation do to it. */
export type RotationWorld = {
  readonly folder: string
  /** The time before which nothing of this rehearsal happened. */
  readonly since: string
  readonly clients: ClientsAtWork
  product(): Product
  demo(): DemoFile
  operator(): OperatorClient
  ops(...flags: string[]): Promise<unknown>
  /** Stops the whole product and starts it again on the same folder and port. */
  restart(): Promise<void>
  changePassword(): Promise<void>
  /** `POST /v1/dashboard/<path>` by the owner. @throws for another status */
  asOwner(status: number, path: string, body?: object): Promise<Record<string, unknown>>
  /** The status of a `PUT` to a part of the demo. */
  put(url: string, body: object): Promise<number>
  mint(keys: KeyPair): Promise<OperatorClient>
  useKeyPair(keys: KeyPair): Promise<void>
  /** Resolves when every event up to now has come to the receiver and was verified. */
  allDelivered(): Promise<void>
  /** The status that the token of the open round's player gets. */
  tokenOfPlayer(): Promise<number>
  /** @returns the status in which it ended */
  endOpenRound(): Promise<string>
}

const bet = { target: '50.00', direction: 'over' }

/** Again until it succeeds: right after a start on a busy machine a request may have to be repeated. */
const patiently = <Result extends object | string>(what: string, fn: () => Promise<Result>) =>
  waitFor(fn, { timeoutMs: 60_000, everyMs: 100, what })

/** Starts two replicas of each service, a round that stays open, and four clients. */
export async function openRotationWorld(folder: string, cleanup: Cleanup): Promise<RotationWorld> {
  const since = new Date().toISOString()
  const port = String(await freePort())
  const start = () =>
    startProduct({
      dataDir: folder,
      logPath: join(folder, `product-${Date.now()}.log`),
      flags: ['--port', port, '--replicas', twoOfEach],
      environment: {},
      cleanup,
    })
  let product = await start()
  const demo = () => product.demo()
  const dashboard = `${demo().base_url}/v1/dashboard`
  let keys = demo().test
  let operator = await patiently('a token', () => createOperatorClient(demo()))
  let { email, password } = demo().dashboard

  const signIn = async () => {
    const signed = await send('POST', `${dashboard}/login`, { body: { email, password } })
    if (signed.status !== 200) throw new Error(`the owner's sign-in answered ${signed.status}`)
    return String(signed.body.access_token)
  }
  let person = await patiently('a sign-in', signIn)
  const asOwner: RotationWorld['asOwner'] = async (status, path, body = {}) => {
    const answer = await patiently(path, async () => {
      const found = await send('POST', `${dashboard}/${path}`, { token: person, body })
      if (found.status === 0 || found.body.retryable === true) throw new Error(JSON.stringify(found.body))
      return found
    })
    if (answer.status !== status)
      throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  const openMines = () => operator.openSession({ player_id: 'miner', game: 'mines', currency: 'USD' })
  const open = await patiently('a session', openMines)
  const board = await patiently('the open round', async () => {
    const opening = { stake: '1.00', bet: { mines: 3 }, transaction_id: 'the-open-round' }
    const answer = await open.call('POST', '/game/rounds', opening)
    if (answer.status !== 201) throw new Error(`it answered ${JSON.stringify(answer.body)}`)
    return answer
  })

  async function player(name: string): Promise<Seat> {
    const sit = () => operator.openSession({ player_id: name, game: 'dice', currency: 'USD' })
    let session = await patiently('a session', sit)
    return {
      name,
      ask: (turn) =>
        session.call('POST', '/game/rounds', { stake: '1.00', bet, transaction_id: `${name}-${turn}` }),
      async renew() {
        session = await sit()
      },
    }
  }
  const server: Seat = {
    name: "the operator's server",
    ask: () => operator.call('GET', '/games'),
    async renew() {
      operator = await createOperatorClient(demo(), keys)
    },
  }
  const owner: Seat = {
    name: 'a person at the dashboard',
    ask: () => send('GET', `${dashboard}/me`, { token: person }),
    async renew() {
      person = await signIn()
    },
  }
  const clients = startClients([await player('ann'), await player('ben'), server, owner])

  return {
    ...{ folder, since, clients, demo, asOwner },
    product: () => product,
    operator: () => operator,
    ops: (...flags) => orderOps(folder, ...flags),
    async restart() {
      await product.stop()
      product = await start()
    },
    async changePassword() {
      const next = `${password} of another day`
      await asOwner(200, 'me/password', { current_password: password, new_password: next })
      password = next
      person = await patiently('a sign-in', signIn)
    },
    put: async (url, body) => (await send('PUT', url, { body })).status,
    mint: (pair) => patiently('a token', () => createOperatorClient(demo(), pair)),
    async useKeyPair(pair) {
      keys = pair
      operator = await patiently('a token', () => createOperatorClient(demo(), pair))
    },
    async allDelivered() {
      const events = await operator.all(`/events?from=${encodeURIComponent(since)}`)
      await waitFor(
        async () => {
          const there = new Set((await readReceived(demo())).map(({ event_id }) => event_id))
          return events.every(({ id }) => there.has(String(id)))
        },
        { timeoutMs: 60_000, everyMs: 250, what: 'every event to be delivered' },
      )
    },
    tokenOfPlayer: async () => (await open.call('GET', '/game/session')).status,
    async endOpenRound() {
      const round = `/game/rounds/${String(board.body.round_id)}`
      const opened = await open.call('POST', `${round}/reveal`, { tile: 12 })
      if (opened.status !== 200) throw new Error(`reveal answered ${JSON.stringify(opened.body)}`)
      if (opened.body.status !== 'OPEN') return 'ended by a mine'
      const paid = await open.call('POST', `${round}/cashout`)
      if (paid.status !== 200) throw new Error(`cashout answered ${JSON.stringify(paid.body)}`)
      return 'cashed out'
    },
  }
}
