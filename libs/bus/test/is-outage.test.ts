import {
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
} from 'mongodb'
import t from 'tap'
import { isOutage } from '../src/call-failure.ts'

const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })

const cases: [what: string, error: unknown, outage: boolean][] = [
  ['a lost connection to the database', new MongoNetworkError('connection 7 closed'), true],
  ['no server to be found', Object.assign(new Error('gone'), { name: MongoServerSelectionError.name }), true],
  ['a raw reset socket', reset, true],
  ['a failure caused by one', new Error('outer', { cause: reset }), true],
  [
    'a write that no majority has taken in time',
    new MongoWriteConcernError({
      ok: 1,
      writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' },
    }),
    true,
  ],
  [
    'a primary that stepped down after the write',
    new MongoWriteConcernError({ ok: 1, writeConcernError: { code: 189, errmsg: 'stepped down' } }),
    true,
  ],
  ['no primary', new MongoServerError({ message: 'not primary', code: 10_107 }), true],
  ['a command that an election ended', new MongoServerError({ message: 'interrupted', code: 11_602 }), true],
  ['a duplicate key', new MongoServerError({ message: 'E11000', code: 11_000 }), false],
  ['a mistake of ours', new TypeError('undefined is not a function'), false],
  ['something that is no error', 'ECONNRESET', false],
]

t.test('only what is away for a moment counts as an outage', async (t) => {
  for (const [what, error, outage] of cases) t.equal(isOutage(error), outage, what)
})
