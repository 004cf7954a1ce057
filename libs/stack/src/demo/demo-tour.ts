import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { DemoError, eventually, exchange, expectAnswer } from './demo-http.ts'
import type { DemoFile } from './demo-file.ts'
import type { DemoLog } from './demo-log.ts'

const page = <Row extends z.ZodType>(row: Row) => z.looseObject({ data: z.array(row) })
const tokenAnswer = z.looseObject({
  access_token: z.string(),
  operator: z.looseObject({ name: z.string(), mode: z.string() }),
})
const sessionAnswer = z.looseObject({ session_id: z.string(), launch_url: z.string() })
const roundAnswer = z.looseObject({
  round_id: z.string(),
  game: z.string(),
  status: z.string(),
  stake: z.string(),
  payout: z.string().nullable(),
  currency: z.string(),
  multiplier: z.string().nullable(),
  outcome: z.record(z.string(), z.unknown()).nullable(),
  wallet_round_id: z.string(),
  fairness: z.looseObject({ server_seed_hash: z.string(), nonce: z.number() }),
})
type Round = z.infer<typeof roundAnswer>
const playerSession = z.looseObject({
  next_round: z.looseObject({ server_seed_hash: z.string(), nonce: z.number() }),
  balance: z.looseObject({ amount: z.string(), currency: z.string() }).nullable(),
})
const walletCall = z.looseObject({
  seq: z.number(),
  operation: z.string(),
  status: z.string().nullable(),
  body: z.string(),
  fault: z.string().nullable(),
})
const received = z.looseObject({
  verified: z.boolean(),
  event_id: z.string().nullable(),
  event_type: z.string().nullable(),
  attempt: z.unknown(),
  raw_body: z.string(),
  event: z.unknown(),
})
const verifyAnswer = z.looseObject({
  valid: z.boolean(),
  checks: z.array(z.looseObject({ name: z.string(), ok: z.boolean() })),
})
const movementAnswer = z.looseObject({
  transaction_id: z.string(),
  status: z.string(),
  type: z.string(),
  amount: z.string(),
})
const failure = z.looseObject({
  code: z.string(),
  resource: z.looseObject({ round_id: z.string().optional(), transaction_id: z.string() }).optional(),
})

const triesMax = 60
const safeBets = {
  dice: { target: '50.00', direction: 'over' },
  'spin-bottle': { pick: 0, sectors: 2 },
} as const

/** The guided tour: every promise shown on a running stack. @throws DemoError where something did not happen as it should. */
export async function runTour(demo: DemoFile, log: DemoLog): Promise<void> {
  const api = `${demo.base_url}/v1`
  const run = randomBytes(3).toString('hex')
  let walletSeq = await latestWalletSeq(demo)

  /** Shows the wallet calls since the last look that concern `needle`. */
  const showWalletCalls = async (needle: string) => {
    const { data } = await expectAnswer(
      200,
      page(walletCall),
      'GET',
      `${demo.wallet.url}/sandbox/calls?after=${walletSeq}&limit=1000`,
    )
    for (const call of data) {
      walletSeq = Math.max(walletSeq, call.seq)
      if (call.operation === 'balance' || !call.body.includes(needle)) continue
      const { amount, currency, transactionId } = z
        .looseObject({ amount: z.string(), currency: z.string(), transactionId: z.string() })
        .parse(JSON.parse(call.body))
      log.detail(
        'wallet',
        `${call.operation} ${amount} ${currency}  ${transactionId} → ${call.status ?? `no answer (${call.fault ?? 'dropped'})`}`,
        { operation: call.operation, amount, currency, status: call.status },
      )
    }
  }
  /** Waits for a verified webhook of `type` that mentions `needle`. */
  const showWebhook = async (type: string, needle: string) => {
    const found = await eventually(`the webhook ${type} of ${needle}`, async () => {
      const url = new URL(`/demo/received?type=${type}&limit=1000`, demo.receiver.url)
      let after = 0
      for (;;) {
        url.searchParams.set('after', String(after))
        const answer = await expectAnswer(
          200,
          page(received).extend({ next_after: z.number().nullable() }),
          'GET',
          url.href,
        )
        const hit = answer.data.find((row) => row.verified && row.raw_body.includes(needle))
        if (hit !== undefined) return hit
        if (answer.next_after === null) return null
        after = answer.next_after
      }
    })
    log.detail(
      'webhook',
      `${type}  ${found.event_id ?? ''}  signature verified, attempt ${String(found.attempt)}`,
      { type, event_id: found.event_id },
    )
  }
  const verify = async (round: Round) => {
    const result = await expectAnswer(200, verifyAnswer, 'POST', `${api}/public/verify`, { body: round })
    if (!result.valid)
      throw new DemoError(`round ${round.round_id} does not verify: ${JSON.stringify(result.checks)}`)
    log.detail(
      'verify',
      `nonce ${round.fairness.nonce}: ${result.checks.length} of ${result.checks.length} checks hold`,
      { round_id: round.round_id },
    )
  }

  log.step("A token for the operator's server", `POST /v1/auth/token with ${demo.test.api_key}`)
  const { access_token: token, operator } = await expectAnswer(
    200,
    tokenAnswer,
    'POST',
    `${api}/auth/token`,
    { body: demo.test },
  )
  log.happened(`a bearer token for ${operator.name}, mode ${operator.mode}`)

  const open = async (game: string, player_id: string) => {
    const session = await expectAnswer(201, sessionAnswer, 'POST', `${api}/sessions`, {
      token,
      body: { player_id, game, currency: 'USD' },
    })
    return { session, playerToken: new URL(session.launch_url).hash.replace('#token=', '') }
  }
  const play = (playerToken: string, body: object) =>
    expectAnswer(201, roundAnswer, 'POST', `${api}/game/rounds`, { token: playerToken, body })
  const settled = (playerToken: string, round: Round) =>
    eventually(`the end of ${round.round_id}`, async () => {
      const now = await expectAnswer(200, roundAnswer, 'GET', `${api}/game/rounds/${round.round_id}`, {
        token: playerToken,
      })
      return now.status === 'SETTLED' ? now : null
    })
  const tell = async (round: Round) => {
    log.happened(
      `round ${round.round_id} ${round.status}: stake ${round.stake}, multiplier ${round.multiplier ?? '-'}, payout ${round.payout ?? '-'} ${round.currency}`,
      { round },
    )
    await showWalletCalls(round.wallet_round_id)
    await showWebhook('round.completed', round.round_id)
    await verify(round)
  }

  for (const game of ['dice', 'spin-bottle'] as const) {
    const player = `demo-${run}-${game}`
    log.step(`A session of ${game}`, `POST /v1/sessions for player ${player}`)
    const { session, playerToken } = await open(game, player)
    log.happened(`${session.session_id}; the launch link carries the player's token in its fragment`)
    await showWebhook('game.session.created', session.session_id)
    for (const wanted of ['lost', 'won'] as const) {
      log.step(
        `A ${wanted} round of ${game}`,
        'GET /v1/game/session shows the commitment, then POST /v1/game/rounds; fair rounds until one is as wanted',
      )
      const playOne = async () => {
        const { next_round } = await expectAnswer(200, playerSession, 'GET', `${api}/game/session`, {
          token: playerToken,
        })
        const round = await settled(
          playerToken,
          await play(playerToken, { stake: '1.00', bet: safeBets[game], client_seed: `demo-${run}` }),
        )
        if (round.fairness.server_seed_hash !== next_round.server_seed_hash)
          throw new DemoError(`round ${round.round_id} was not played with the seed that was committed to`)
        return round
      }
      const round = await playUntil(wanted, playOne, skipWalletCalls)
      log.happened(
        `nonce ${round.fairness.nonce} was committed to before the bet: ${round.fairness.server_seed_hash.slice(0, 16)}…`,
      )
      await tell(round)
    }
  }

  const minesPlayer = `demo-${run}-mines`
  const { playerToken: minesToken } = await open('mines', minesPlayer)
  for (const wanted of ['lost', 'won'] as const) {
    const mines = wanted === 'lost' ? 20 : 1
    log.step(
      `A ${wanted} round of mines`,
      `${mines} bombs; open a tile${wanted === 'won' ? ', then cash out' : ''}`,
    )
    await tell(
      await playUntil(
        wanted,
        async () => {
          const round = await play(minesToken, { stake: '1.00', bet: { mines } })
          const tile = await expectAnswer(
            200,
            roundAnswer,
            'POST',
            `${api}/game/rounds/${round.round_id}/reveal`,
            { token: minesToken, body: { tile: 12 } },
          )
          if (tile.status === 'OPEN')
            await expectAnswer(200, roundAnswer, 'POST', `${api}/game/rounds/${round.round_id}/cashout`, {
              token: minesToken,
            })
          return await settled(minesToken, round)
        },
        () => skipWalletCalls(),
      ),
    )
  }

  log.step('A free bet', 'POST /v1/free-bets grants one dice round of 2.00 USD; the player uses it')
  const freePlayer = `demo-${run}-free`
  await expectAnswer(201, z.looseObject({ grant_id: z.string() }), 'POST', `${api}/free-bets`, {
    token,
    body: { player_id: freePlayer, game: 'dice', currency: 'USD', stake: '2.00', count: 1 },
  })
  const { playerToken: freeToken } = await open('dice', freePlayer)
  const free = await settled(
    freeToken,
    await play(freeToken, { stake: '2.00', bet: { target: '2.00', direction: 'over' }, free_bet: true }),
  )
  await tell(free)

  log.step(
    'A wallet that does not answer',
    'the sandbox wallet keeps silent on the next debit; the player bets all the same',
  )
  const slowPlayer = `demo-${run}-slow`
  await expectAnswer(200, z.unknown(), 'PUT', `${demo.wallet.url}/sandbox/faults`, {
    body: { rules: [{ operation: 'debit', player_id: slowPlayer, kind: 'hang', count: 1 }] },
  })
  const { playerToken: slowToken } = await open('dice', slowPlayer)
  const stuck = await exchange('POST', `${api}/game/rounds`, {
    token: slowToken,
    body: { stake: '1.00', bet: safeBets.dice },
  })
  const { code, resource } = failure.parse(stuck.body)
  if (stuck.status !== 504 || code !== 'WALLET_TIMEOUT' || resource === undefined)
    throw new DemoError(`expected WALLET_TIMEOUT, got ${stuck.status} ${code}`)
  log.happened(`504 ${code}, retryable; the stake ${resource.transaction_id} is pending, nothing is lost`)
  const movement = await eventually('the end of the pending stake', async () => {
    const now = await expectAnswer(
      200,
      movementAnswer,
      'GET',
      `${api}/transactions/${resource.transaction_id}`,
      { token },
    )
    return now.status === 'PENDING' ? null : now
  })
  log.happened(
    `the service asked again by itself: ${movement.type} of ${movement.amount} is ${movement.status}`,
  )
  await expectAnswer(204, z.unknown(), 'DELETE', `${demo.wallet.url}/sandbox/faults`)
  if (resource.round_id !== undefined) await showWebhook('round.completed', resource.round_id)
  await showWalletCalls(resource.transaction_id)

  log.step('The same history by polling', 'GET /v1/events')
  const events = await expectAnswer(
    200,
    page(z.looseObject({ id: z.string(), type: z.string() })).extend({ next_cursor: z.string() }),
    'GET',
    `${api}/events?limit=200&from=${encodeURIComponent(new Date(Date.now() - 600_000).toISOString())}`,
    { token },
  )
  if (events.data.length === 0) throw new DemoError('GET /v1/events is empty')
  log.happened(
    `${events.data.length} envelopes, the same bytes as the webhooks; next_cursor goes on from here`,
  )
  log.end()

  /** Wallet calls of rounds that the tour plays over are not shown. */
  async function skipWalletCalls(): Promise<void> {
    walletSeq = await latestWalletSeq(demo)
  }
}

/** Plays until a round ends as wanted; the rounds before it are fair rounds too, just not shown. */
async function playUntil(
  wanted: 'lost' | 'won',
  play: () => Promise<Round>,
  before: () => Promise<void>,
): Promise<Round> {
  for (let tries = 0; tries < triesMax; tries++) {
    await before()
    const round = await play()
    if ((round.outcome?.won === true) === (wanted === 'won')) return round
  }
  throw new DemoError(`no ${wanted} round in ${triesMax}`)
}

async function latestWalletSeq(demo: DemoFile): Promise<number> {
  const { data } = await expectAnswer(
    200,
    page(walletCall),
    'GET',
    `${demo.wallet.url}/sandbox/calls?latest=true&limit=1`,
  )
  return data[0]?.seq ?? 0
}
