import type { Db, Document } from 'mongodb'
import t from 'tap'
import { ensureIndexes } from '../src/ensure-indexes.ts'
import { planIndexes } from '../src/plan-indexes.ts'
import { testStorage } from './fixtures/test-storage.ts'

const declared = {
  things: [
    { key: { roundId: 1 }, name: 'of_round', unique: true },
    { key: { at: 1 }, name: 'at' },
  ],
} as const

t.test('a plan names what is missing, and what a start would refuse, and changes nothing', async (t) => {
  const { db } = await testStorage(t)
  const states = async (wanted: Parameters<typeof planIndexes>[1]) =>
    (await planIndexes(db, wanted)).map(({ index, state, refused }) => [index, state, refused])
  t.strictSame(await states(declared), [
    ['of_round', 'missing', false],
    ['at', 'missing', false],
  ])
  t.strictSame(await db.listCollections().toArray(), [], 'and it has made no collection')

  await ensureIndexes(db, declared)
  await db.collection('things').insertMany([{ roundId: 'a' }, { roundId: 'b' }])
  const [first] = await planIndexes(db, declared)
  t.match(first, { collection: 'things', state: 'there', documents: 2, progress: null })
  t.ok((first?.bytes ?? 0) > 0)

  const next = {
    things: [
      { key: { at: -1 }, name: 'at' },
      { key: { by: 1 }, name: 'by' },
    ],
  } as const
  t.strictSame(await states(next), [
    ['at', 'differs', true],
    ['by', 'missing', false],
    ['of_round', 'undeclared', true],
  ])
})

t.test('an index that leaves is dropped by a start, and by no step before it', async (t) => {
  const { db } = await testStorage(t)
  await ensureIndexes(db, declared)
  const next = {
    things: [declared.things[0], { ...declared.things[1], retired: true }, { key: { by: 1 }, name: 'by' }],
  } as const
  const states = async () => (await planIndexes(db, next)).map(({ index, state }) => [index, state])
  await ensureIndexes(db, next, undefined, { drops: false })
  t.strictSame(await states(), [
    ['of_round', 'there'],
    ['at', 'to-drop'],
    ['by', 'there'],
  ])
  await ensureIndexes(db, next)
  t.strictSame(await states(), [
    ['of_round', 'there'],
    ['by', 'there'],
  ])
})

/** A server in the midst of a build, as MongoDB lists it; DocumentDB makes an index in one transaction. */
function building(inprog: readonly Document[]): Db {
  const spec = { v: 2, ...declared.things[0] }
  const db = {
    databaseName: 'pitboss_rounds',
    admin: () => ({ command: async () => ({ inprog }) }),
    listCollections: () => ({ toArray: async () => [{ name: 'things' }] }),
    async command(command: Document) {
      if ('collStats' in command) return { count: 200n, size: 4096n }
      return { cursor: { firstBatch: [{ spec, buildUUID: '00836550-d10e-4ec8-84df-cb5166bc085b' }] } }
    },
  }
  return db as unknown as Db
}

t.test('a build under way shows how far it is, where the login may see it', async (t) => {
  const build = (more: object) => ({
    msg: 'Index Build: scanning collection',
    command: { createIndexes: 'things', $db: 'pitboss_rounds', ...more },
    progress: { done: 50n, total: 200n },
  })
  const wanted = { things: [declared.things[0]] }
  const planned = async (...inprog: Document[]) => (await planIndexes(building(inprog), wanted))[0]
  t.match(await planned({ op: 'none' }, build({})), { state: 'building', progress: 0.25, bytes: 4096 })
  t.match(await planned(build({ $db: 'pitboss_auth' })), { state: 'building', progress: null })
  t.match(await planned(), { state: 'building', progress: null })
})
