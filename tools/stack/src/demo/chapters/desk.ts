import { askPatiently } from '@pitboss/runtime/ask-patiently'
import { z } from 'zod'
import { anything, DemoError, eventually, expectAnswer, movementAnswer, page } from '../answers.ts'
import type { Chapter, Tour } from '../tour.ts'
import { dashboardToken } from './dashboard-key.ts'

const flag = z.looseObject({ flag_id: z.string(), round_id: z.string().nullable() })
const rules = z.looseObject({ big_win: z.array(z.unknown()) })
const grant = z.looseObject({ grant_id: z.string(), remaining: z.number() })

/** A big win becomes a case, and what a grant leaves of free bets can be taken back. */
export const flagsAndGrants: Chapter = async (tour) => {
  const { api, log, run, token, atEnd, open, play, settled } = tour
  log.step(
    'A big win is flagged',
    'PUT /v1/dashboard/flag-rules/TEST: from 1.50 USD on; then dice until a win',
  )
  const person = await dashboardToken(tour)
  const rulesUrl = `${api}/dashboard/flag-rules/TEST`
  const before = await expectAnswer(200, rules, 'GET', rulesUrl, { token: person })
  atEnd(() => expectAnswer(200, anything, 'PUT', rulesUrl, { token: person, body: before }))
  const body = { ...before, big_win: [{ currency: 'USD', amount: '1.50' }] }
  await expectAnswer(200, rules, 'PUT', rulesUrl, { token: person, body })
  const player = `demo-${run}-lucky`
  const { playerToken } = await open('dice', player)
  const winsWanted = 2
  for (let wins = 0, tries = 0; wins < winsWanted; tries++) {
    if (tries === 60) throw new DemoError('no two wins in 60 rounds')
    const bet = { stake: '1.00', bet: { target: '50.00', direction: 'over' } }
    const round = await settled(playerToken, await play(playerToken, bet))
    if (round.outcome?.won === true) wins += 1
  }
  const flags = `${api}/dashboard/flags`
  const [first] = await eventually('a flag for each big win', async () => {
    const asked = { token: person }
    const { data } = await expectAnswer(200, page(flag), 'GET', `${flags}?player_id=${player}`, asked)
    return data.length < winsWanted ? null : data
  })
  if (first === undefined) throw new DemoError('there is no flag')
  const note = { status: 'IN_REVIEW', note: 'A known player; the round verifies.' }
  await expectAnswer(200, flag, 'PATCH', `${flags}/${first.flag_id}`, { token: person, body: note })
  log.happened(`${first.flag_id} is in review, with a note; the other one is open`)

  log.step('Free bets that are left', 'POST /v1/free-bets twice; one grant is cancelled')
  const give = (count: number) =>
    expectAnswer(201, grant, 'POST', `${api}/free-bets`, {
      token,
      body: { player_id: player, game: 'mines', currency: 'USD', stake: '0.50', count },
    })
  const [kept, taken] = [await give(3), await give(1)]
  const url = `${api}/dashboard/free-bets/${taken.grant_id}/cancel`
  await expectAnswer(200, anything, 'POST', url, { token: person })
  log.happened(`${kept.grant_id} holds ${kept.remaining} free bets; ${taken.grant_id} is cancelled`)
}

const comparison = z.looseObject({
  reconciliation_id: z.string(),
  status: z.string(),
  matched: z.number(),
  counts: z.record(z.string(), z.number()),
})
const ledgerMovement = movementAnswer.extend({ currency: z.string(), player_id: z.string() })

/** A ledger with one mistake of each kind is compared with the record. */
export const ledgerComparison: Chapter = async (tour) => {
  const { api, log, startedAt, token } = tour
  log.step(
    'A ledger is compared',
    "POST /v1/dashboard/reports/reconciliation of this tour's money, with mistakes",
  )
  const person = await dashboardToken(tour)
  const window = { from: startedAt, to: new Date().toISOString() }
  const query = new URLSearchParams({ ...window, limit: '200' })
  const { data } = await expectAnswer(
    200,
    page(ledgerMovement),
    'GET',
    `${api}/transactions?${query.toString()}`,
    { token },
  )
  const moved = data.filter(({ status }) => status === 'SUCCESS')
  const refused = data.find(({ status }) => status === 'FAILED')
  const [lacking, wrong, ...right] = moved
  if (lacking === undefined || wrong === undefined || refused === undefined)
    throw new DemoError('the tour has moved too little to compare')
  const line = ({ transaction_id, type, amount, currency, player_id }: z.infer<typeof ledgerMovement>) =>
    [transaction_id, type, amount, currency, player_id].join(',')
  const ledger = [
    'transaction_id,type,amount,currency,player_id',
    ...right.map(line),
    line({ ...wrong, amount: '7.00' }),
    line(refused),
    line({ ...wrong, transaction_id: `not-of-ours-${tour.run}` }),
    ...right.slice(0, 1).map(line),
    'half a line',
  ].join('\n')
  const url = `${api}/dashboard/reports/reconciliation`
  const ordered = await askPatiently(() =>
    fetch(`${url}?${new URLSearchParams({ environment: 'TEST', ...window }).toString()}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${person}`, 'content-type': 'text/csv' },
      body: ledger,
    }),
  )
  const answer = await ordered.text()
  if (ordered.status !== 202) throw new DemoError(`the ledger was refused: ${ordered.status} ${answer}`)
  const { reconciliation_id: id } = comparison.parse(JSON.parse(answer))
  const job = await ended(`the end of ${id}`, comparison, `${url}/${id}`, person)
  const { extra, different, missing, duplicate, unreadable } = job.counts
  if (extra !== 2 || different !== 1 || duplicate !== 1 || unreadable !== 1 || (missing ?? 0) < 1)
    throw new DemoError(`expected one mistake of each kind: ${JSON.stringify(job)}`)
  log.happened(`${id}: ${job.matched} lines match; each mistake is named`, { counts: job.counts })
}

const certification = z.looseObject({
  certification_id: z.string(),
  status: z.string(),
  certified: z.boolean().nullable(),
  passed: z.number(),
  cases_total: z.number(),
})

/** The wallet passes every case with a good test player, and is told why it does not with a blocked one. */
export const walletCertification: Chapter = async (tour) => {
  const { api, log, run } = tour
  log.step('The wallet is certified', 'POST /v1/dashboard/wallets/TEST/certify, each case of the contract')
  const person = await dashboardToken(tour)
  const url = `${api}/dashboard/wallets/TEST`
  for (const [player_id, wanted] of [
    ['blocked', false],
    [`certified-${run}`, true],
  ] as const) {
    const body = { player_id }
    const asked = { token: person, body }
    const { certification_id: id } = await expectAnswer(202, certification, 'POST', `${url}/certify`, asked)
    const job = await ended(`the end of ${id}`, certification, `${url}/certifications/${id}`, person)
    if (job.certified !== wanted) throw new DemoError(`expected certified: ${wanted}: ${JSON.stringify(job)}`)
    const verdict = wanted ? 'certified' : 'not certified'
    log.happened(`with player ${player_id}: ${job.passed} of ${job.cases_total} passed, ${verdict}`)
  }
}

const jobWithinMs = 120_000

/** The job once it runs no more. */
async function ended<Job extends { status: string }>(
  what: string,
  schema: z.ZodType<Job>,
  url: string,
  token: Tour['token'],
): Promise<Job> {
  return eventually(
    what,
    async () => {
      const now = await expectAnswer(200, schema, 'GET', url, { token })
      return now.status === 'RUNNING' ? null : now
    },
    jobWithinMs,
  )
}
