import { eventType } from '@pitboss/contracts/objects/event'
import type { Test } from 'tap'
import { waitFor } from '@pitboss/testing/wait-for'
import { z } from 'zod'
import type { ClientsWorld } from './clients-world.ts'

const contentSchema = z.record(z.string(), z.looseObject({ example: z.unknown().optional() }))
const operationSchema = z.looseObject({
  security: z.array(z.record(z.string(), z.unknown())),
  responses: z.record(z.string(), z.looseObject({ content: contentSchema.optional() })),
})
const documentSchema = z.looseObject({
  paths: z.record(
    z.string(),
    z.looseObject({ get: operationSchema.optional(), post: operationSchema.optional() }),
  ),
  webhooks: z.record(
    z.string(),
    z.looseObject({ post: z.looseObject({ requestBody: z.looseObject({ content: contentSchema }) }) }),
  ),
})
const eventPage = z.looseObject({
  data: z.array(z.looseObject({ type: z.string() })),
  next_cursor: z.string(),
})
const sentTypes = eventType.options

/** What a text is, by how it looks; null where any text may stand. */
const forms: readonly (readonly [string, RegExp])[] = [
  ['a time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/],
  ['a day', /^\d{4}-\d\d-\d\d$/],
  ['a uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
  ['64 hex digits', /^[0-9a-f]{64}$/],
  ['a decimal', /^-?\d+\.\d+$/],
]
function formOf(text: string): string | null {
  const prefix = /^([a-z]{2,4}_)[0-9a-z]{26,32}$/
    .exec(text)?.[1]
    ?.replace(/^(bet|win|ref|rbk)_/, 'a movement')
  return prefix ?? forms.find(([, pattern]) => pattern.test(text))?.[0] ?? null
}

/** What these texts are is said beside them: the name of a check, the type of an object. */
const saidBeside = /\.(checks\[\]\.(expected|actual)|object\.id)$/

/** Every text of an example has the form of the text that a running product answers in its place. */
export async function shownExamples(t: Test, world: ClientsWorld): Promise<void> {
  const { paths, webhooks } = documentSchema.parse(world.description)
  const player = await world.openSession({ player_id: 'examples', game: 'dice', currency: 'USD' })
  const bet = { stake: '1.00', bet: { target: '2.00', direction: 'over' } }
  const round = await player.call('POST', '/game/rounds', bet)
  const grant = { player_id: 'examples', game: 'dice', currency: 'USD', stake: '1.00', count: 1 }
  const granted = await world.server('POST', '/free-bets', grant)
  const { body: stakes } = await world.server('GET', '/transactions?player_id=examples')
  const [movement] = z.object({ data: z.array(z.object({ transaction_id: z.string() })) }).parse(stakes).data
  const known = new Map<string, unknown>([
    ...Object.entries({ environment: 'TEST', slug: 'dice', game: 'dice', player_id: 'examples' }),
    ['session_id', player.session.session_id],
    ['round_id', round.body.round_id],
    ['transaction_id', movement?.transaction_id],
  ])
  let compared = 0
  for (const [path, { get }] of Object.entries(paths)) {
    const example = get?.responses['200']?.content?.['application/json']?.example
    const parameters = [...path.matchAll(/\{([a-z_]+)\}/g)].map(([, name = '']) => name)
    if (get === undefined || example === undefined || parameters.some((name) => !known.has(name))) continue
    const filled = path.replaceAll(/\{([a-z_]+)\}/g, (_all, name: string) => String(known.get(name)))
    const audiences = new Set(get.security.flatMap((scheme) => Object.keys(scheme)))
    const below = filled.replace(/^\/v1(\/dashboard)?/, '')
    const { body, status } =
      audiences.has('dashboard') && filled.startsWith('/v1/dashboard')
        ? await world.owner('GET', below)
        : audiences.has('game-launcher')
          ? await player.call('GET', filled.replace('/v1', ''))
          : await world.server('GET', filled.replace('/v1', ''))
    if (status !== 200) continue
    const faults = differences(example, body)
    t.same(faults, [], path)
    compared += 1
  }
  t.ok(compared > 40, `${compared} routes`)

  const { session } = await world.openSession({ player_id: 'examples-own', game: 'dice', currency: 'USD' })
  const stake = { type: 'BET', session_id: session.session_id, amount: '1.00', currency: 'USD' }
  const taken = await world.server('POST', '/transactions', { ...stake, transaction_id: 'examples-1' })
  const win = { type: 'WIN', transaction_id: 'examples-2', round_id: taken.body.round_id }
  const won = await world.server('POST', '/transactions', { ...win, amount: '2.00', currency: 'USD' })
  t.equal(won.status, 201, JSON.stringify(won.body))
  const other = await world.server('POST', '/transactions', { ...stake, transaction_id: 'examples-3' })
  const back = { type: 'ROLLBACK', transaction_id: 'examples-4', reference_transaction_id: 'examples-3' }
  await world.server('POST', '/transactions', back)
  t.equal(other.status, 201)
  const exclude = { player_id: 'excluded', game: 'dice', currency: 'USD' }
  const { call: playExcluded } = await world.openSession(exclude)
  await playExcluded('POST', '/game/rounds', bet)
  const stop = await world.server('POST', '/players/examples-stopped/stop', { reason: 'asked for it' })

  const posted = new Map<string, { status: number; body: unknown }>([
    ['/v1/sessions', { status: 201, body: player.session }],
    ['/v1/game/rounds', round],
    ['/v1/free-bets', granted],
    ['/v1/transactions', taken],
    ['/v1/players/{player_id}/stop', stop],
  ])
  for (const [path, { status, body }] of posted) {
    const example = paths[path]?.post?.responses[String(status)]?.content?.['application/json']?.example
    t.ok(example, `${path} ${status}`)
    t.same(differences(example, body), [], `POST ${path}`)
  }

  const events = await waitFor(
    async () => {
      const data = await allEvents(world)
      return sentTypes.every((type) => data.some((event) => event.type === type)) ? data : null
    },
    { what: `an event of each type` },
  )
  for (const type of sentTypes) {
    const example = webhooks[type]?.post.requestBody.content['application/json']?.example
    const event = events.find((one) => one.type === type)
    t.same(differences(example, event), [], type)
  }
}

/** Every event so far: what ran before has left many. */
async function allEvents(world: ClientsWorld): Promise<z.infer<typeof eventPage>['data']> {
  const all = []
  for (let cursor = ''; ; ) {
    const query = cursor === '' ? '' : `&cursor=${cursor}`
    const page = eventPage.parse((await world.server('GET', `/events?limit=200${query}`)).body)
    if (page.data.length === 0) return all
    all.push(...page.data)
    cursor = page.next_cursor
  }
}

/** Texts of an answer whose form is not that of the example. */
function differences(example: unknown, answer: unknown, at = ''): string[] {
  if (typeof answer === 'string' && typeof example === 'string') {
    const form = formOf(answer)
    return form === null || saidBeside.test(at) || form === formOf(example)
      ? []
      : [`${at}: ${example} for ${answer}`]
  }
  if (Array.isArray(answer) && Array.isArray(example)) {
    return answer.length === 0 || example.length === 0 ? [] : differences(example[0], answer[0], `${at}[]`)
  }
  if (typeof answer !== 'object' || answer === null || typeof example !== 'object' || example === null)
    return []
  const shown = new Map(Object.entries(example))
  return Object.entries(answer).flatMap(([name, value]) =>
    differences(shown.get(name), value, `${at}.${name}`),
  )
}
