import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import type { RoundsContext } from '../../src/context.ts'
import { noHooks } from '../../src/mount-wings.ts'
import type { RoundDocument } from '../../src/storage/round-document.ts'
import { startFactFolder } from '../../src/workers/fact-folder.ts'

const lease = { acquire: async () => 1, renew: async () => true, release: async () => undefined }
/** Turns of the event loop: a pass over facts in memory takes less than one. */
const turns = 10

const round: RoundDocument = JSON.parse('{}')

/** A folder that finds so many rounds with facts in each of its passes, and none after the last. */
async function run(t: Test, passes: readonly number[]): Promise<string[]> {
  const done: string[] = []
  const facts: RoundsContext['facts'] = {
    read: async () => {
      const counted = passes[done.filter((one) => one === 'counted').length] ?? 0
      done.push('counted')
      return Array.from({ length: counted }, () => round)
    },
    waiting: async () => new Set(),
    remove: async () => undefined,
  }
  const fold = { fold: async () => undefined, afterwards: async () => void done.push('raised') }
  const hooks = { ...noHooks, folds: [fold] }
  const folder = startFactFolder({ facts, hooks, logger: pino({ level: 'silent' }) }, lease)
  t.teardown(() => folder.stop())
  for (let taken = 0; taken < turns; taken++) await turn()
  return done
}

t.test('rounds that end one after the other are counted together, a pass a second', async (t) => {
  t.strictSame(await run(t, [1, 1, 1]), ['counted', 'raised'])
})

t.test('a long backlog is counted without a pause', async (t) => {
  t.strictSame(await run(t, [200, 200, 3]), Array.from({ length: 3 }, () => ['counted', 'raised']).flat())
})
