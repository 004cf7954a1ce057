import t from 'tap'
import { batchCalls } from '../../src/storage/batch-calls.ts'

const outage = new Error('the database is away')
const bad = new Error('one of them is bad')
const failsByOne = (error: unknown) => error === bad

t.test('what comes while a write is under way shares the next one, at most itemsMax of it', async (t) => {
  const groups: number[][] = []
  const first = Promise.withResolvers<void>()
  const run = async (items: readonly number[]) => {
    groups.push([...items])
    if (groups.length === 1) await first.promise
    return items.map((item) => item * 10)
  }
  const add = batchCalls({ run, itemsMax: 3, failsByOne })
  const results = [add([1, 2])]
  while (groups.length === 0) await new Promise(setImmediate)
  results.push(add([3]), add([4, 5]), add([6]))
  first.resolve()
  t.strictSame(await Promise.all(results), [[10, 20], [30], [40, 50], [60]])
  t.strictSame(groups, [[1, 2], [3, 4, 5], [6]])
  t.strictSame(await add([7]), [70], 'an idle group writes at once')
  t.strictSame(await add([]), [])
})

t.test('an item that cannot be written fails alone', async (t) => {
  const run = async (items: readonly number[]) => {
    if (items.includes(2)) throw bad
    return items
  }
  const add = batchCalls({ run, itemsMax: 10, failsByOne })
  const results = await Promise.allSettled([add([1]), add([2]), add([3])])
  t.strictSame(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})

t.test('an outage fails the whole group at once and the next write is tried again', async (t) => {
  let writes = 0
  const run = async (items: readonly number[]) => {
    writes += 1
    if (writes === 1) throw outage
    return items
  }
  const add = batchCalls({ run, itemsMax: 10, failsByOne })
  const results = await Promise.allSettled([add([1]), add([2])])
  t.strictSame(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  t.equal(writes, 1)
  t.strictSame(await add([3]), [3])
})
