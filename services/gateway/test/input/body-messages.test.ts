import { transactionBodySchema } from '@pitboss/contracts/objects/movement'
import t from 'tap'
import { z } from 'zod'
import { validatePart } from '@pitboss/contracts/validate-part'
import { routeTable } from '../../src/routes/route-table.ts'
import { jargon } from '../fixtures/jargon.ts'

/** Values of each kind of JSON, and some that are too long, too small or too large. */
const wrong = [
  ...[null, true, -1, 0, 1.5, 1e300, '', ' ', 'abc!', '-1', 'é'.repeat(70_000), [], {}, { '': 1 }],
  ...[Array(2_000).fill('x'), Array(2_000).fill(1), ['x', 'x'], [null]],
]
/** Fields that choose among shapes: told which values there are. */
const choices = { type: true }
/** Paths of all fields of a schema, those of objects in objects and in lists included. */
function fieldsOf(schema: unknown, path: readonly (string | number)[] = []): (string | number)[][] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return fieldsOf(schema.unwrap(), path)
  }
  if (schema instanceof z.ZodPipe) return fieldsOf(schema.in, path)
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => fieldsOf(option, path))
  if (schema instanceof z.ZodArray) return [[...path, 0], ...fieldsOf(schema.element, [...path, 0])]
  if (!(schema instanceof z.ZodObject)) return []
  return Object.entries(schema.shape).flatMap(([key, field]) => [
    [...path, key],
    ...fieldsOf(field, [...path, key]),
  ])
}

function bodyWith(path: readonly (string | number)[], value: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return value
  return typeof key === 'number' ? [bodyWith(rest, value)] : { [key]: bodyWith(rest, value) }
}

t.test('what is wrong with a body is said in words that name the remedy', (t) => {
  const told = new Map<string, string>()
  let fields = 0
  for (const { method, path, shapes } of routeTable) {
    if (!(shapes.body instanceof z.ZodType)) continue
    for (const field of [[], ...fieldsOf(shapes.body)]) {
      fields++
      for (const value of wrong) {
        const part = validatePart(shapes.body, bodyWith(field, value), 'body')
        if (part.ok) continue
        for (const detail of part.details) told.set(detail.message, `${method} ${path}: ${detail.path}`)
      }
    }
  }
  for (const [message, where] of told) t.notMatch(message, jargon, where)
  t.ok(fields > 150, `${fields} fields`)
  t.ok(told.size > 50, `${told.size} messages`)
  t.end()
})

t.test('what is missing is told as such, and what it must be', (t) => {
  const told = new Set<string>()
  for (const { method, path, shapes } of routeTable) {
    for (const schema of [shapes.body, shapes.query]) {
      if (!(schema instanceof z.ZodType)) continue
      const part = validatePart(schema, {}, 'body')
      if (part.ok) continue
      for (const detail of part.details) {
        if (!(detail.path in choices) && detail.path !== 'body') {
          t.match(detail.message, /^is required($|, and must be )/, `${method} ${path}: ${detail.path}`)
        }
        told.add(`${detail.path}: ${detail.message}`)
      }
    }
  }
  t.ok(told.has('email: is required, and must be an e-mail address'))
  t.ok(told.has('stake: is required, and must be a decimal string such as "10.00"'))
  t.ok(told.has('password: is required'))
  t.end()
})

t.test('a field that is not known is answered with those that are', (t) => {
  const win = { type: 'WIN', transaction_id: 'w1', round_id: 'rnd_1', amount: '1.00', currency: 'USD' }
  const part = validatePart(transactionBodySchema, { ...win, session_id: 'ses_1' }, 'body')
  const known = 'type, transaction_id, round_id, amount, currency, final, outcome'
  t.strictSame(part, {
    ok: false,
    details: [{ path: 'session_id', message: `is not a known field: there are ${known}` }],
  })
  const { round_id: roundId, ...others } = win
  t.match(validatePart(transactionBodySchema, { ...others, roundId }, 'body'), {
    details: [
      { path: 'round_id', message: 'is required' },
      { path: 'roundId', message: `is not a known field: did you mean round_id? there are ${known}` },
    ],
  })
  t.match(validatePart(transactionBodySchema, { ...others, round: roundId }, 'body'), {
    details: [{ path: 'round_id' }, { path: 'round', message: /: did you mean round_id\? there are / }],
  })
  const { transaction_id: transactionId, ...rest } = others
  t.match(validatePart(transactionBodySchema, { ...rest, transactionId, nonsense: 1, roundId }, 'body'), {
    details: [
      { path: 'transaction_id' },
      { path: 'round_id' },
      { path: 'transactionId', message: /: did you mean transaction_id\? there are / },
      { path: 'nonsense', message: `is not a known field: there are ${known}` },
      { path: 'roundId', message: /: did you mean round_id\? there are / },
    ],
  })
  t.end()
})
