import { transactionBodySchema } from '@pitboss/contracts/objects/movement'
import { sessionCreateSchema } from '@pitboss/contracts/objects/session'
import { webhookPatchSchema } from '@pitboss/contracts/objects/webhook'
import { validatePart } from '@pitboss/contracts/validate-part'
import t from 'tap'
import { z } from 'zod'
import { withoutNulls } from '../../src/input/without-nulls.ts'
import { exampleOf } from '../../src/openapi/example-of.ts'
import { toJsonSchema } from '../../src/openapi/to-json-schema.ts'
import { routeTable } from '../../src/routes/route-table.ts'

const post = { clears: false }

t.test('a null where a field may be left out means that it was left out, at every depth', async (t) => {
  const required = { player_id: 'p', game: 'dice', currency: 'USD' }
  const limits = { min_stake: null, max_stake: '5.00' }
  const nulls = { brand: null, language: null, country: null, return_url: null, metadata: null, limits }
  t.strictSame(withoutNulls(sessionCreateSchema, { ...required, ...nulls, expires_in_s: null }, post), {
    ...required,
    limits: { max_stake: '5.00' },
  })
  const list = z.strictObject({ items: z.array(z.strictObject({ a: z.string().optional() })) })
  t.strictSame(withoutNulls(list, { items: [{ a: null }, { a: 'x' }] }, post), { items: [{}, { a: 'x' }] })
})

t.test('a null for a field that is needed, or that there is not, stays and is refused', async (t) => {
  const body = { player_id: null, other: null }
  t.strictSame(withoutNulls(sessionCreateSchema, body, post), body)
  for (const value of [null, 'text', 3, []])
    t.strictSame(withoutNulls(sessionCreateSchema, value, post), value)
})

t.test('a field that every object inherits is unknown like any other', async (t) => {
  for (const name of Object.getOwnPropertyNames(Object.prototype)) {
    if (name === '__proto__') continue
    for (const value of [null, 1, {}, []]) {
      const body = { player_id: 'p', game: 'dice', currency: 'USD', [name]: value }
      t.strictSame(withoutNulls(sessionCreateSchema, body, post), body)
      const details = [{ path: name, message: /is not a known field/ }]
      t.match(validatePart(sessionCreateSchema, body, 'body'), { ok: false, details }, name)
    }
  }
})

t.test('of several kinds of a body the one that it names counts', async (t) => {
  const win = { type: 'WIN', transaction_id: 'w', round_id: 'r', amount: '1.00', currency: 'USD' }
  t.strictSame(withoutNulls(transactionBodySchema, { ...win, final: null, outcome: null }, post), win)
  const bad = { ...win, amount: 7, final: null }
  t.strictSame(withoutNulls(transactionBodySchema, bad, post), { ...win, amount: 7 })
})

t.test('a PATCH clears what may be null with it', async (t) => {
  const body = { description: null, events: null }
  t.strictSame(withoutNulls(webhookPatchSchema, body, { clears: true }), { description: null })
})

t.test('every body of the API may say its optional fields as null', async (t) => {
  for (const { method, path, shapes } of routeTable) {
    if (!(shapes.body instanceof z.ZodObject)) continue
    const optional = Object.entries(shapes.body.shape).filter(
      ([, field]) => field.safeParse(undefined).success,
    )
    const nulls = Object.fromEntries(optional.map(([name]) => [name, null]))
    const clears = method === 'PATCH'
    const left = withoutNulls(shapes.body, nulls, { clears })
    const offending = shapes.body
      .safeParse(left)
      .error?.issues.filter(({ path: at }) => String(at[0]) in nulls)
    t.strictSame(offending ?? [], [], `${method} ${path}`)
  }
})

type Shape = Readonly<Record<string, unknown>>
const shape = z.record(z.string(), z.unknown())
const fieldsOf = (of: Shape) => Object.entries(z.record(z.string(), shape).catch({}).parse(of.properties))
const kindsOf = (of: Shape) =>
  z
    .array(shape)
    .catch([])
    .parse(of.oneOf ?? of.anyOf)

/** A value of a shape, at each depth with every field that may be left out, as null or as a value. */
function filled(of: Shape, nulls: boolean): unknown {
  const [first] = kindsOf(of)
  if (first !== undefined) return filled(first, nulls)
  if (of.type === 'array') return [filled(shape.parse(of.items), nulls)]
  if (of.type !== 'object' || of.properties === undefined) return exampleOf(of, 'x')
  const required = z.array(z.string()).catch([]).parse(of.required)
  return Object.fromEntries(
    fieldsOf(of).flatMap(([name, field]) => {
      if (required.includes(name) || fieldsOf(field).length > 0) return [[name, filled(field, nulls)]]
      return nulls ? [[name, null]] : []
    }),
  )
}

t.test('a body with its nulls is the body without them, at every depth and of every kind', async (t) => {
  const inner: string[] = []
  for (const { method, path, shapes } of routeTable) {
    const { body } = shapes
    if (body === null || typeof body === 'string') continue
    const whole = toJsonSchema(body, 'input')
    for (const kind of kindsOf(whole).length > 0 ? kindsOf(whole) : [whole]) {
      const [nulls, without] = [filled(kind, true), filled(kind, false)]
      const clears = { clears: method === 'PATCH' }
      const nullable = JSON.stringify(kind).includes('"null"')
      if (clears.clears && nullable) continue
      t.strictSame(withoutNulls(body, nulls, clears), without, `${method} ${path}`)
      if (/\{.*\{.*null/.test(JSON.stringify(nulls))) inner.push(path)
    }
  }
  t.ok(inner.includes('/v1/sessions'), inner.join())
})
