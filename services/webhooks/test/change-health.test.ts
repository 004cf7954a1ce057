import t from 'tap'
import { changeHealth, newHealthChanges } from '../src/actions/settle-attempt.ts'
import type { WebhooksContext } from '../src/context.ts'
import { type EndpointHealth, newHealth } from '../src/rules/endpoint-health.ts'
import type { EndpointDocument } from '../src/storage/collections.ts'

const endpointOf = (id: string) =>
  ({
    _id: id,
    operatorId: 'one',
    environment: 'SANDBOX',
    version: 1,
    health: newHealth(8),
  }) as EndpointDocument

/** Counts one more failed attempt. */
const failed = ({ health }: EndpointDocument): EndpointHealth => ({
  ...health,
  streak: { ...health.streak, attempts: health.streak.attempts + 1 },
})

/** Endpoints whose writes are answered by the test, one by one. */
function held() {
  const stored = new Map(['whe_1', 'whe_2'].map((id) => [id, endpointOf(id)]))
  const writes: { id: string; end: PromiseWithResolvers<void> }[] = []
  const endpoints: Pick<WebhooksContext['endpoints'], 'change'> = {
    async change(_scope, id, decide) {
      const end = Promise.withResolvers<void>()
      writes.push({ id, end })
      await end.promise
      const endpoint = stored.get(id)
      const update = endpoint === undefined ? null : decide(endpoint)
      if (endpoint === undefined || update === null) return null
      const changed = { ...endpoint, ...update.$set } as EndpointDocument
      stored.set(id, changed)
      return changed
    },
  }
  const context = { endpoints, memory: { healthChanges: newHealthChanges() } } as Parameters<
    typeof changeHealth
  >[0]
  const fail = async (id: string) =>
    (await changeHealth(context, endpointOf(id), failed))?.health.streak.attempts
  /** The ids of the writes under way, in their order. */
  const underWay = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return writes.map(({ id }) => id)
  }
  return { fail, stored, writes, underWay }
}

t.test('failures that wait for one endpoint are one write, and each counts', async (t) => {
  const { fail, stored, writes, underWay } = held()
  const first = fail('whe_1')
  const other = fail('whe_2')
  t.strictSame(await underWay(), ['whe_1', 'whe_2'], 'another endpoint waits for nobody')
  const later = [fail('whe_1'), fail('whe_1'), fail('whe_1')]
  t.equal((await underWay()).length, 2)
  for (const { end } of writes) end.resolve()
  t.strictSame(await Promise.all([first, other]), [1, 1])
  t.strictSame(await underWay(), ['whe_1', 'whe_2', 'whe_1'])
  writes[2]?.end.resolve()
  t.strictSame(await Promise.all(later), [2, 3, 4], 'each follows the one before')
  t.equal(stored.get('whe_1')?.health.streak.attempts, 4)
})

t.test('a write that fails is the failure of all that it holds, and of no later one', async (t) => {
  const { fail, writes, underWay } = held()
  const [one, two] = [fail('whe_1'), fail('whe_1')]
  await underWay()
  writes[0]?.end.reject(new Error('the database is away'))
  for (const failing of await Promise.allSettled([one, two])) t.equal(failing.status, 'rejected')
  const again = fail('whe_1')
  await underWay()
  writes[1]?.end.resolve()
  t.equal(await again, 1)
})
