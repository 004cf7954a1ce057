import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { prepareBase } from '@pitboss/bench/compare/prepare-base'
import type { Cleanup } from '@pitboss/bench/harness/cleanup'
import { raisedLimits } from '@pitboss/bench/harness/raised-limits'
import { type Product, startProduct } from '@pitboss/bench/harness/start-product'
import type { DemoFile } from '@pitboss/stack/demo-file'
import { waitFor } from '@pitboss/testing/wait-for'
import { z } from 'zod'
import { brokerPid } from '../faults/broker-process.ts'
import { findServices } from '../faults/find-processes.ts'
import { createOperatorClient, type OperatorClient, untilStatus } from '../operator-client.ts'
import { type Answer, send } from '../send.ts'
import { booksOf, openWorld, twoOfEach, type World } from './open-world.ts'
import type { Rehearsal, Step } from './rehearsal.ts'
import { openSeat, signIn } from './seats.ts'

const playMs = 10_000
/** The older build goes on as long without its broker, so that events wait in its documents. */
const withoutBrokerMs = 700
const goesOnWithinMs = 180_000
const stake = '1.00'
const endpoint = z.object({ webhook_id: z.string(), secret: z.string() })
const rows = z.object({ data: z.array(z.unknown()) })
const page = z.object({ data: z.array(z.looseObject({ id: z.string() })), next_cursor: z.string() })
const sure = { target: '98.00', direction: 'under' }

/** What the older build was about to do when it was killed. */
type Left = {
  readonly since: string
  readonly mines: { readonly token: string; readonly round_id: string; readonly picked: number }
  readonly owed: string
  readonly replay: string
  readonly held: { readonly webhook_id: string; readonly secret: string }
  readonly poller: { readonly cursor: string; readonly ids: readonly string[] }
  /** Words on how much was unfinished. */
  readonly words: string
}

/**
 * An older build is killed in the middle of play; this one starts on its data, two of each service at once.
 * An open round of mines, a win that the wallet owes, events that nobody has published, deliveries that are
 * held or tried again, a poller's cursor and a replay go on. Source: docs/versioning.md.
 */
export const olderData: Rehearsal = {
  about: 'this build starts on the data of an older one that was killed in the middle of play; --from COMMIT',
  success: 'all that the older build had begun has ended, and the books balance',
  async open(folder, cleanup, { from }) {
    if (from === null) throw new Error('older-data needs --from COMMIT: the older build')
    const left = await leaveWork(from, folder, cleanup)
    const world = await openWorld(folder, cleanup, { replicas: twoOfEach })
    return { clients: world.clients, steps: [...stepsOf(world, left), booksOf(world, left.since)] }
  },
}

function stepsOf(world: World, left: Left): Step[] {
  const operator = () => world.seats.operator()
  const dashboard = `${world.demo().base_url}/v1/dashboard/webhooks`
  const person = () => signIn(world.demo())
  return [
    {
      name: `of the older build was left: ${left.words}`,
      async run() {
        const { token, round_id, picked } = left.mines
        const round = `${operator().base}/game/rounds/${round_id}`
        const { body } = await untilStatus(200, () => send('POST', `${round}/cashout`, { token }))
        const { status, end_reason } = body
        if (status !== 'SETTLED') throw new Error(`the round of mines is ${JSON.stringify(body)}`)
        return `the open round of mines was cashed out after ${picked} tile: ${String(end_reason)}`
      },
    },
    {
      name: 'the win that the wallet owed',
      run: async () => {
        const isPaid = async () =>
          (await operator().call('GET', `/rounds/${left.owed}`)).body.status === 'SETTLED' || null
        await waitFor(isPaid, { timeoutMs: goesOnWithinMs, what: 'the owed win to be paid' })
        return 'it was paid'
      },
    },
    {
      name: 'the replay, and what was held',
      async run() {
        const token = await person()
        const { webhook_id } = world.demo().receiver
        const replay = `${dashboard}/${webhook_id}/replays/${left.replay}`
        let seen: Answer['body'] = {}
        const isDone = async () => {
          seen = (await send('GET', replay, { token })).body
          return seen.status === 'DONE' || null
        }
        await waitFor(isDone, { timeoutMs: goesOnWithinMs, what: 'the replay to be done' })
        const resume = { token, body: { held: 'deliver' } }
        const deliveries = dashboard.replace('webhooks', 'webhook-deliveries')
        const before = `webhook_id=${left.held.webhook_id}&to=${encodeURIComponent(world.since)}&limit=1`
        const countOf = async (status: string) => {
          const list = () => send('GET', `${deliveries}?${before}&status=${status}`, { token })
          return rows.parse((await untilStatus(200, list)).body).data.length
        }
        if ((await countOf('HELD')) === 0) throw new Error('nothing was held')
        // A start gives the demo's receiver the secret of its own endpoint.
        await accept(world.demo(), left.held.secret)
        await untilStatus(200, () => send('POST', `${dashboard}/${left.held.webhook_id}/resume`, resume))
        const isEmpty = async () => (await countOf('HELD')) + (await countOf('PENDING')) === 0
        await waitFor(isEmpty, { timeoutMs: goesOnWithinMs, what: 'what was held to be delivered' })
        return `${String(seen.delivered)} of ${String(seen.matched)} replayed deliveries arrived; nothing is held`
      },
    },
    {
      name: 'the poller goes on at its cursor',
      async run() {
        const all = await operator().all('/events')
        const later = await poll(operator(), left.poller.cursor)
        const polled = new Set([...left.poller.ids, ...later.ids])
        if (polled.size !== left.poller.ids.length + later.ids.length)
          throw new Error('the poller got an event twice')
        const missed = all.find(({ id }) => !polled.has(String(id)))
        if (missed !== undefined) throw new Error(`the poller missed ${JSON.stringify(missed)}`)
        return `${left.poller.ids.length} events before and ${later.ids.length} after, none twice, none missed`
      },
    },
  ]
}

/** Has the older build begin all of that, kills it, and says what it left. */
async function leaveWork(from: string, folder: string, cleanup: Cleanup): Promise<Left> {
  const since = new Date().toISOString()
  const product = await startProduct({
    entry: prepareBase(from, join(folder, 'older-build'), cleanup),
    dataDir: join(folder, 'data'),
    logPath: join(folder, 'older.log'),
    flags: ['--replicas', twoOfEach],
    environment: raisedLimits,
    cleanup,
  })
  const demo = product.demo()
  const operator = await createOperatorClient(demo, demo.test)
  const held = await pausedEndpoint(demo)
  const mines = await openMines(operator)
  let isOver = false
  const players = Array.from({ length: 16 }, async (_, n) => {
    const ask = await sitAtDice(operator, `player-${n}`)
    for (let turn = 1; !isOver; turn++) await ask(`${n}-${turn}`)
  })
  await delay(playMs)
  const owed = await oweWin(demo, operator)
  const poller = await poll(operator, '')
  const replay = await slowReplay(demo, since)
  await delay(playMs / 2)
  process.kill(brokerPid(product), 'SIGSTOP')
  await delay(withoutBrokerMs)
  await killAll(product)
  isOver = true
  await Promise.all(players)
  const words = `an open round of mines, ${owed}, a replay, held deliveries, and what a kill leaves`
  return { since, mines, owed, replay, held, poller, words }
}

/** Plays until a round of mines is open with a tile revealed. */
async function openMines(operator: OperatorClient): Promise<Left['mines']> {
  const token = await openSeat(operator, 'miner', 'mines')
  const rounds = `${operator.base}/game/rounds`
  for (let turn = 1; ; turn++) {
    const play = { token, body: { stake, bet: { mines: 1 }, transaction_id: `mines-${turn}` } }
    const opened = await untilStatus(201, () => send('POST', rounds, play))
    const round_id = String(opened.body.round_id)
    const reveal = () => send('POST', `${rounds}/${round_id}/reveal`, { token, body: { tile: 7 } })
    const revealed = await untilStatus(200, reveal)
    if (revealed.body.status === 'OPEN') return { token, round_id, picked: 1 }
  }
}

async function sitAtDice(operator: OperatorClient, player_id: string) {
  const token = await openSeat(operator, player_id, 'dice')
  return (transaction_id: string, bet: object = { target: '50.00', direction: 'over' }) =>
    send('POST', `${operator.base}/game/rounds`, { token, body: { stake, bet, transaction_id } })
}

/** Plays until the wallet has refused to say whether it paid a win. @returns the round */
async function oweWin(demo: DemoFile, operator: OperatorClient): Promise<string> {
  const player_id = 'creditor'
  const rules = [{ operation: 'credit', player_id, kind: 'http_error', http_status: 500 }]
  await untilStatus(200, () =>
    send('PUT', new URL('/sandbox/faults', demo.wallet.url).href, { body: { rules } }),
  )
  const ask = await sitAtDice(operator, player_id)
  for (let turn = 1; ; turn++) {
    await ask(`owed-${turn}`, sure)
    const [owing] = await operator.all(`/rounds?player_id=${player_id}&status=SETTLING`)
    if (owing !== undefined) return String(owing.round_id)
  }
}

/** An endpoint that holds what comes. */
async function pausedEndpoint(demo: DemoFile): Promise<Left['held']> {
  const token = await signIn(demo)
  const webhooks = `${demo.base_url}/v1/dashboard/webhooks`
  const body = { url: `${demo.receiver.url}/held`, environment: 'TEST', events: [] }
  const made = await untilStatus(201, () => send('POST', webhooks, { token, body }))
  const { webhook_id, secret } = endpoint.parse(made.body)
  await accept(demo, secret)
  await untilStatus(200, () => send('POST', `${webhooks}/${webhook_id}/pause`, { token }))
  return { webhook_id, secret }
}

/** Has the demo's receiver verify by this secret, too. */
async function accept({ receiver }: DemoFile, secret: string): Promise<void> {
  const body = { secrets: [receiver.secret, secret] }
  await untilStatus(204, () => send('PUT', new URL('/demo/secrets', receiver.url).href, { body }))
}

/**
 * Begins to send all again while the receiver is slow and refuses every other delivery. @returns the replay
 */
async function slowReplay(demo: DemoFile, from: string): Promise<string> {
  const behaviour = { delay_ms: 300, status: 503 }
  await untilStatus(200, () =>
    send('PUT', new URL('/demo/behaviour', demo.receiver.url).href, { body: behaviour }),
  )
  const token = await signIn(demo)
  const body = { from, to: new Date().toISOString(), only: 'all' }
  const replays = `${demo.base_url}/v1/dashboard/webhooks/${demo.receiver.webhook_id}/replay`
  const begun = await untilStatus(202, () => send('POST', replays, { token, body }))
  return String(begun.body.replay_id)
}

/** Follows the cursor to the end of the events. */
async function poll(operator: OperatorClient, from: string): Promise<Left['poller']> {
  const ids: string[] = []
  let cursor = from
  for (;;) {
    const at = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { body } = await untilStatus(200, () => operator.call('GET', `/events?limit=200${at}`))
    const { data, next_cursor } = page.parse(body)
    if (data.length === 0) return { cursor, ids }
    ids.push(...data.map(({ id }) => id))
    cursor = next_cursor
  }
}

/** Ends the runner, the services and, by the watchdog, the engines, as a machine that goes away. */
async function killAll(product: Product): Promise<void> {
  const services = findServices(product)
  process.kill(product.pid, 'SIGKILL')
  for (const { pid } of services) process.kill(pid, 'SIGKILL')
  await waitFor(() => !product.alive(), { what: 'the older build to be gone' })
}
