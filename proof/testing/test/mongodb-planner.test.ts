import t from 'tap'
import { objectionTo, queriesOf } from '../src/mongodb-planner.ts'

const asked = (filter: object, more: object = {}) => ({ filter, sort: {}, hint: null, limit: 0, ...more })
const scan = 'a scan of the collection'

t.test('a partial index by $type serves no equality, however it is asked for', async (t) => {
  const byType = {
    name: 'round',
    key: { roundId: 1 },
    partialFilterExpression: { roundId: { $type: 'string' } },
  } as const
  t.equal(objectionTo(asked({ roundId: 'rnd_1' }), [byType]), scan)
  t.match(objectionTo(asked({ roundId: 'rnd_1' }, { hint: 'round' }), [byType]), /whole scan of round/)
  t.equal(objectionTo(asked({ roundId: { $type: 'string', $gt: 'a' } }), [byType]), null)
  const byRange = { ...byType, partialFilterExpression: { roundId: { $gt: '' } } }
  t.equal(objectionTo(asked({ roundId: 'rnd_1' }, { hint: 'round' }), [byRange]), null)
  t.equal(objectionTo(asked({ roundId: { $in: ['a', 'b'] } }), [byRange]), null)
  t.equal(objectionTo(asked({ roundId: null }), [byRange]), scan)
  t.equal(objectionTo(asked({ roundId: { $in: ['a', null] } }), [byRange]), scan)
})

t.test('comparisons prove comparisons of one kind', async (t) => {
  const due = {
    name: 'due',
    key: { dueAt: 1 },
    partialFilterExpression: { dueAt: { $gt: new Date(0) } },
  } as const
  t.equal(objectionTo(asked({ dueAt: { $gt: new Date(0) } }), [due]), null)
  t.equal(objectionTo(asked({ dueAt: { $gte: new Date(5) } }), [due]), null)
  t.equal(objectionTo(asked({ dueAt: { $gte: new Date(0) } }), [due]), scan)
  t.equal(objectionTo(asked({ dueAt: { $lt: new Date(5) } }), [due]), scan)
  t.equal(objectionTo(asked({ dueAt: { $gt: 5 } }), [due]), scan)
  const range = {
    name: 'rare',
    key: { type: 1 },
    partialFilterExpression: { type: { $gt: 'b', $lt: 'w' } },
  } as const
  t.equal(objectionTo(asked({ type: 'f' }), [range]), null)
  t.equal(objectionTo(asked({ type: 'w' }), [range]), scan)
  const claimed = {
    name: 'claimed',
    key: { owner: 1 },
    partialFilterExpression: { token: { $gt: 0 } },
  } as const
  t.equal(
    objectionTo(asked({ owner: 'a', token: { $gt: 0n, $lt: 7n } }, { hint: 'claimed' }), [claimed]),
    null,
  )
})

t.test('an index serves what bounds its first field', async (t) => {
  const list = { name: 'list', key: { owner: 1, at: -1 } } as const
  t.equal(objectionTo(asked({ owner: 'a' }), [list]), null)
  t.equal(objectionTo(asked({ at: 1 }), [list]), scan)
  t.match(objectionTo(asked({ at: 1 }, { hint: 'list' }), [list]), /nothing bounds/)
  t.match(objectionTo(asked({ owner: { $ne: 'a' } }, { hint: 'list' }), [list]), /nothing bounds/)
  t.match(objectionTo(asked({ owner: 'a' }, { hint: 'other' }), [list]), /no index/)
  t.equal(objectionTo(asked({ _id: 'a' }), []), null)
  t.equal(objectionTo(asked({ $and: [{ owner: 'a' }, { at: 1 }] }), [list]), null)
  t.equal(objectionTo(asked({ $or: [{ owner: 'a' }, { _id: 'b' }] }), [list]), null)
  t.equal(objectionTo(asked({ $or: [{ owner: 'a' }, { at: 2 }] }), [list]), scan)
})

t.test('without a filter the first few are few, and all are all', async (t) => {
  t.equal(objectionTo(asked({}), []), scan)
  t.equal(objectionTo(asked({}, { limit: 5 }), []), null)
  t.equal(objectionTo(asked({}, { limit: 5, sort: { _id: -1 } }), []), null)
  t.match(objectionTo(asked({}, { limit: 5, sort: { at: -1 } }), []), /sorted by at/)
})

t.test('the queries of each command are found', async (t) => {
  const filters = (command: object) => queriesOf(command)?.queries.map(({ filter, limit }) => [filter, limit])
  t.strictSame(filters({ find: 'a', filter: { x: 1 }, limit: 3 }), [[{ x: 1 }, 3]])
  t.strictSame(filters({ aggregate: 'a', pipeline: [{ $match: { x: 1 } }, { $group: {} }] }), [[{ x: 1 }, 0]])
  t.strictSame(filters({ update: 'a', updates: [{ q: { x: 1 } }, { q: { y: 1 }, multi: true }] }), [
    [{ x: 1 }, 1],
    [{ y: 1 }, 0],
  ])
  t.strictSame(filters({ delete: 'a', deletes: [{ q: { x: 1 }, limit: 1 }] }), [[{ x: 1 }, 1]])
  t.strictSame(filters({ findAndModify: 'a', query: { x: 1 } }), [[{ x: 1 }, 1]])
  t.equal(queriesOf({ insert: 'a', documents: [] }), null)
  t.equal(queriesOf({ hello: 1 }), null)
})
