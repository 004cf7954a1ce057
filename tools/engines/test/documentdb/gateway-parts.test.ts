import assert from 'node:assert/strict'
import { Binary, Double, Int32, Long, serialize, UUID } from 'bson'
import t from 'tap'
import { BsonView, isSingleStatement, statementAt } from '../../src/documentdb/gateway/bson/bson-view.ts'
import { codeName, codeOfSqlState, unpackSqlState } from '../../src/documentdb/gateway/errors/error-codes.ts'
import {
  codeOfPacked,
  ConnectionLost,
  errorReply,
  MongoError,
  PostgresError,
  translateError,
} from '../../src/documentdb/gateway/errors/mongo-error.ts'
import { CollectionGate } from '../../src/documentdb/gateway/state/collection-gate.ts'
import { CursorRegistry } from '../../src/documentdb/gateway/state/cursor-registry.ts'

const bytes = (document: object) => Buffer.from(serialize(document))
const postgresError = (sqlState: string) =>
  new PostgresError(
    new Map([
      ['C', sqlState],
      ['M', 'text'],
    ]),
  )

await t.test('a view reads top-level fields of every type without parsing the whole', async (t) => {
  const id = new UUID()
  const view = new BsonView(
    bytes({
      insert: 'c',
      int: new Int32(-7),
      long: Long.fromString('9007199254740993'),
      double: new Double(3.9),
      yes: true,
      nothing: null,
      pattern: /a/i,
      when: new Date(5),
      binary: new Binary(Buffer.from('xyz')),
      lsid: { id },
      list: [1, 2],
    }),
  )
  t.equal(view.first?.name, 'insert')
  t.equal(view.string('insert'), 'c')
  t.equal(view.integer('int'), -7n)
  t.equal(view.integer('long'), 9007199254740993n)
  t.equal(view.integer('double'), 3n)
  t.equal(view.integer('insert'), null)
  t.equal(view.boolean('yes'), true)
  t.equal(view.boolean('missing'), null)
  t.same(view.binary('binary'), Buffer.from('xyz'))
  t.same(new BsonView(view.embedded('lsid') ?? Buffer.alloc(5)).binary('id'), Buffer.from(id.id))
})

await t.test('fields are cut out and the rest stays valid', async (t) => {
  const view = new BsonView(bytes({ create: 'c', lsid: { id: new UUID() }, capped: false, $db: 'd' }))
  t.same(new BsonView(view.without(new Set(['lsid', '$db']))).parse(), { create: 'c', capped: false })
})

await t.test('lengths that do not fit are InvalidBSON, not a crash', async (t) => {
  const whole = bytes({ a: 'text', b: { c: 1 } })
  for (let at = 4; at < whole.length - 1; at++) {
    const broken = Buffer.from(whole)
    broken.writeUInt8(0xfe, at)
    try {
      new BsonView(broken).without(new Set())
    } catch (error) {
      t.ok(error instanceof MongoError && error.code === 22, `byte ${at}`)
    }
  }
})

await t.test('statements are found in arrays and in sequences', async (t) => {
  const documents = [{ _id: 1 }, { _id: 2 }]
  const inArray = {
    name: 'insert',
    view: new BsonView(bytes({ insert: 'c', documents })),
    sequences: new Map(),
  }
  const sequences = new Map([['documents', Buffer.concat(documents.map(bytes))]])
  const inSequence = { name: 'insert', view: new BsonView(bytes({ insert: 'c' })), sequences }
  for (const command of [inArray, inSequence]) {
    t.equal(isSingleStatement(command), false)
    t.match(statementAt(command, 1), { document: { _id: new Int32(2) } })
    t.equal(statementAt(command, 2), null)
  }
  const single = {
    name: 'insert',
    view: new BsonView(bytes({ insert: 'c', documents: [{ a: 1 }] })),
    sequences: new Map(),
  }
  t.equal(isSingleStatement(single), true)
})

await t.test('SQLSTATEs become MongoDB codes and names', async (t) => {
  const cases: [string, number, string][] = [
    ['M001C', 11000, 'DuplicateKey'],
    ['23505', 11000, 'DuplicateKey'],
    ['23P01', 11000, 'DuplicateKey'],
    ['40P01', 112, 'WriteConflict'],
    ['40001', 112, 'WriteConflict'],
    ['55P03', 24, 'LockTimeout'],
    ['57014', 50, 'MaxTimeMSExpired'],
    ['42P01', 26, 'NamespaceNotFound'],
    ['M00CO', 121, 'DocumentValidationFailure'],
    ['XX000', 1, 'InternalError'],
  ]
  for (const [sqlState, code, name] of cases) {
    t.equal(codeOfSqlState(sqlState), code, sqlState)
    t.equal(codeName(code), name)
  }
  t.equal(codeName(40415), 'Location40415')
})

await t.test('packed codes are unpacked as the engine packs them', async (t) => {
  t.equal(unpackSqlState(319029277), 'M001C', 'seen in an answer of the engine')
  t.equal(codeOfPacked(319029277, false), 11000)
})

await t.test('a lock not got in time is a write conflict inside a transaction only', async (t) => {
  t.equal(translateError(postgresError('55P03'), true).code, 112)
  t.equal(translateError(postgresError('55P03'), false).code, 24)
})

await t.test('a lost PostgreSQL is never answered', async (t) => {
  const failures = ['57P01', '57P02', '57P03', '08006'].map(postgresError)
  for (const failure of [...failures, new ConnectionLost('gone')]) {
    assert.throws(() => translateError(failure, false), ConnectionLost)
  }
  t.pass('dropped')
})

await t.test('an error reply carries code, name, labels and details', async (t) => {
  const error = new MongoError(112, 'text', {
    labels: ['TransientTransactionError'],
    fields: { keyPattern: { a: 1 } },
  })
  t.same(errorReply(error), {
    ok: 0,
    errmsg: 'text',
    code: 112,
    codeName: 'WriteConflict',
    keyPattern: { a: 1 },
    errorLabels: ['TransientTransactionError'],
  })
})

await t.test('the gate lets writers share, and a loner in only when it is empty', async (t) => {
  const gate = new CollectionGate()
  const order: string[] = []
  const enter = (namespace: string, alone: boolean, name: string) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const done = gate.inside(namespace, alone, () => {
      order.push(name)
      return promise
    })
    return { done, leave: resolve }
  }
  const first = enter('a', false, 'first')
  const second = enter('a', false, 'second')
  t.same(order, ['first', 'second'], 'writers go in at once')
  const alone = enter('a', true, 'alone')
  const later = enter('a', false, 'later')
  const elsewhere = enter('b', true, 'elsewhere')
  first.leave()
  elsewhere.leave()
  await Promise.all([first.done, elsewhere.done])
  t.same(order.splice(0), ['first', 'second', 'elsewhere'], 'the loner waits for the second')
  second.leave()
  await second.done
  await Promise.resolve()
  t.same(order, ['alone'], 'those behind wait')
  alone.leave()
  await alone.done
  later.leave()
  await later.done
  t.same(order, ['alone', 'later'])
  t.equal(gate.size, 0, 'nothing is kept')
})

await t.test('the gate is left when the work fails', async (t) => {
  const gate = new CollectionGate()
  await t.rejects(gate.inside('a', true, () => Promise.reject(new Error('no'))))
  t.equal(await gate.inside('a', true, async () => 'in'), 'in')
})

await t.test('a cursor serves one getMore at a time and ends with its session or idleness', async (t) => {
  const cursors = new CursorRegistry()
  cursors.add(1n, Buffer.from('a'), 'session', 0)
  cursors.add(2n, Buffer.from('b'), null, 0)
  const cursor = cursors.borrow(1n)
  t.throws(() => cursors.borrow(1n), { code: 237 })
  cursors.advance(cursor, Buffer.from('c'), 10)
  t.same(cursors.borrow(1n).continuation, Buffer.from('c'))
  t.same(cursors.removeIdle(600_001), [2n], 'one in use is not idle')
  t.same(cursors.removeOfSessions(new Set(['session'])), [1n])
  t.throws(() => cursors.borrow(1n), { code: 43 })
})
