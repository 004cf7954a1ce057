import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { documentOf, initialState } from '../../src/records/new-movement.ts'
import type { MovementDocument } from '../../src/storage/movement-document.ts'
import { startResolver } from '../../src/workers/resolver.ts'
import { newScope, silentLogger, specOf } from '../fixtures/bridge.ts'

const clock = { now: () => new Date() }
const scope = newScope()

function owed(walletKey: string, number: number): MovementDocument {
  const spec = specOf({ type: 'WIN', transactionId: `${walletKey}-${number}` })
  const state = initialState('WIN', new Date(number))
  return { ...documentOf({ scope, spec, reference: spec.transactionId, state }), walletKey }
}

function staked(walletKey: string, number: number): MovementDocument {
  const spec = specOf({ type: 'BET', transactionId: `${walletKey}-stake-${number}` })
  const state = { ...initialState('BET', new Date(number)), operation: 'debit' } as const
  return { ...documentOf({ scope, spec, reference: spec.transactionId, state }), walletKey }
}

/** A resolver over movements in memory, of which `advance` ends what `end` is called for. */
function start(
  t: { teardown(fn: () => Promise<void>): void },
  backlog: Map<string, MovementDocument[]>,
  fails: (document: MovementDocument) => boolean = () => false,
) {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const breaker = { open: false, silent: (_key: string) => false }
  /** Ends the calls that are under way. @returns how many */
  const endAll = () => {
    const running = [...ends.values()]
    ends.clear()
    for (const end of running) end()
    return running.length
  }
  const keys = () => [...backlog].filter(([, due]) => due.length > 0).map(([key]) => key)
  const resolver = startResolver({
    due: {
      nextWallet: async (after) =>
        keys()
          .toSorted()
          .find((key) => key > after) ?? null,
      ofWallet: async (key, max) => (backlog.get(key) ?? []).slice(0, max),
      isSilent: (key) => breaker.open || breaker.silent(key),
      isStake: ({ operation }) => operation === 'debit',
      async advance(document) {
        begun.push(document.walletKey)
        await new Promise<void>((resolve) => ends.set(document.transactionId, resolve))
        if (fails(document)) throw new Error('its wallet cannot be opened')
        const rest = (backlog.get(document.walletKey) ?? []).filter(({ _id }) => _id !== document._id)
        backlog.set(document.walletKey, rest)
        return { ...document, status: 'SUCCESS', dueAt: null }
      },
    },
    clock,
    newRequestId: () => 'req_1',
    logger: silentLogger,
  })
  t.teardown(async () => {
    const stopped = resolver.stop()
    for (const end of ends.values()) end()
    await stopped
  })
  return { begun, ends, endAll, breaker, resolver }
}

t.test('a wallet gets a place although the backlogs of others take all of them', async (t) => {
  const slow = Array.from({ length: 10 }, (_, wallet) => `slow${wallet}`)
  const backlog = new Map(
    slow.map((key) => [key, Array.from({ length: 400 }, (_, number) => owed(key, number))]),
  )
  const { begun, ends, endAll, resolver } = start(t, backlog)
  await waitFor(
    () => {
      const full = ends.size >= 256
      if (!full) endAll()
      return full
    },
    { what: 'every place is taken' },
  )
  backlog.set('late', [owed('late', 0)])
  resolver.wake()
  let ended = 0
  await waitFor(
    () => {
      const [id, end] = [...ends][0] ?? []
      if (id === undefined || end === undefined || begun.includes('late')) return begun.includes('late')
      ends.delete(id)
      end()
      ended += 1
      return false
    },
    { what: 'the late one is begun' },
  )
  t.ok(ended < 128, `it waited for ${ended} others, not for a backlog to end`)
})

t.test('a wallet that answers again gets its backlog with growing concurrency', async (t) => {
  const backlog = new Map([['acme', Array.from({ length: 400 }, (_, number) => owed('acme', number))]])
  const { begun, ends, endAll, breaker, resolver } = start(t, backlog)
  const settled = async (running: number) => {
    await waitFor(() => ends.size === running, { what: `${running} calls are under way` })
    resolver.wake()
    await new Promise((resolve) => setImmediate(resolve))
    return ends.size
  }
  const underWay: number[] = []
  for (const running of [2, 4, 8, 16, 32, 32]) {
    underWay.push(await settled(running))
    endAll()
  }
  t.same(underWay, [2, 4, 8, 16, 32, 32], 'each answer makes room for one more, up to 32')
  await settled(32)
  breaker.open = true
  endAll()
  t.equal(await settled(2), 2, 'silent again, it is asked by two at a time')
  breaker.open = false
  endAll()
  t.equal(await settled(4), 4, 'and begins anew')
  t.ok(begun.length < 400)
})

t.test('a wallet that answers is served while hundreds of silent ones hold their calls', async (t) => {
  const dead = Array.from({ length: 300 }, (_, wallet) => `dead${wallet}`)
  const backlog = new Map(dead.map((key) => [key, [0, 1, 2].map((number) => owed(key, number))]))
  const { begun, ends, breaker, resolver } = start(t, backlog)
  breaker.silent = (key) => key.startsWith('dead')
  resolver.wake()
  await waitFor(() => ends.size >= 128, { what: 'silent wallets have their calls' })
  backlog.set(
    'live',
    Array.from({ length: 40 }, (_, number) => owed('live', number)),
  )
  resolver.wake()
  await waitFor(
    () => {
      for (const [id, end] of ends) {
        if (!id.startsWith('live')) continue
        ends.delete(id)
        end()
      }
      return begun.filter((key) => key === 'live').length === 40
    },
    { what: 'every credit of the wallet that answers is sent' },
  )
  t.equal(begun.filter((key) => key.startsWith('dead')).length, 128, 'none of the silent ones has ended')
})

t.test('stakes that hang hold back no credit, of their own wallet or of another', async (t) => {
  const hanging = Array.from({ length: 10 }, (_, wallet) => `slow${wallet}`)
  const backlog = new Map(
    hanging.map((key) => [key, Array.from({ length: 160 }, (_, number) => staked(key, number))]),
  )
  const { begun, ends, resolver } = start(t, backlog)
  await waitFor(() => ends.size >= 2 * hanging.length, {
    what: 'each wallet has as many stakes as it gets at first',
  })
  const credits = ['slow0', 'slow9', 'other']
  for (const key of credits)
    backlog.set(key, [
      ...(backlog.get(key) ?? []),
      ...Array.from({ length: 12 }, (_, at) => owed(key, 1000 + at)),
    ])
  resolver.wake()
  const isCredit = (id: string) => credits.some((key) => id.startsWith(`${key}-1`))
  let paid = 0
  await waitFor(
    () => {
      for (const [id, end] of ends) {
        if (!isCredit(id)) continue
        ends.delete(id)
        paid += 1
        end()
      }
      return paid === 12 * credits.length
    },
    { what: 'every credit is sent while no stake has ended' },
  )
  t.equal(begun.length - paid, ends.size, 'no stake has ended')
})

t.test('due lag is told by what a movement waits for', async (t) => {
  const dueFor = (key: string, ms: number, number = 0) => ({
    ...owed(key, number),
    dueAt: new Date(Date.now() - ms),
  })
  // Eight wallets with 32 calls each take all places of a process.
  const backlog = new Map(
    Array.from({ length: 8 }, (_, wallet) => `busy${wallet}`).map((key) => [
      key,
      Array.from({ length: 200 }, (_, number) => dueFor(key, 20_000, number)),
    ]),
  )
  const { ends, endAll, breaker, resolver } = start(t, backlog)
  breaker.silent = (key) => key === 'mute'
  await waitFor(() => ends.size >= 256 || (endAll(), false), { what: 'every place is taken' })
  const { answering, full, silent } = resolver.dueLags()
  t.same([answering, silent], [0, 0], 'nothing waits for this process')
  t.ok(full >= 20_000, 'these wallets have as many calls as one process makes')

  backlog.set('late', [dueFor('late', 9000)])
  backlog.set('mute', [dueFor('mute', 30_000)])
  resolver.wake()
  await waitFor(() => resolver.dueLags().answering > 0 && resolver.dueLags().silent > 0, {
    what: 'both are seen',
  })
  const lags = resolver.dueLags()
  t.ok(lags.answering >= 9000 && lags.answering < 20_000, 'a wallet that answers waits for a place')
  t.ok(lags.silent >= 30_000, 'one that does not answer is told apart')

  await waitFor(() => (endAll(), [...backlog.values()].every((due) => due.length === 0) && ends.size === 0), {
    what: 'all are done',
  })
  await waitFor(() => Object.values(resolver.dueLags()).every((ms) => ms === 0), {
    what: 'no lag is left',
  })
})

t.test('movements that cannot be advanced do not hide those behind them', async (t) => {
  const stuck = Array.from({ length: 300 }, (_, number) => owed('acme', number))
  const backlog = new Map([['acme', stuck]])
  const { begun, ends, endAll, resolver } = start(t, backlog, (document) => stuck.includes(document))
  await waitFor(
    () => {
      endAll()
      return begun.length >= 300
    },
    { what: 'each of them was looked at' },
  )
  backlog.set('acme', [...stuck, owed('acme', 1000)])
  resolver.wake()
  await waitFor(
    () => {
      const isServed = ends.has('acme-1000')
      endAll()
      resolver.wake()
      return isServed
    },
    { what: 'the one behind them is begun' },
  )
})
