import { operatorIdOf } from '@pitboss/contracts/primitives'
import type { DemoFile } from '@pitboss/stack/demo-file'
import { checkAnswers } from './check/check-answers.ts'
import { checkCalls } from './check/check-calls.ts'
import { checkEvents } from './check/check-events.ts'
import { checkGrants } from './check/check-grants.ts'
import type { Absences } from './check/absences.ts'
import { checkLadder } from './check/check-ladder.ts'
import { checkMoney } from './check/check-money.ts'
import { checkRefusals } from './check/check-refusals.ts'
import { checkReport } from './check/check-report.ts'
import { checkRestored, nothingLost, type Restored } from './check/restored.ts'
import { checkRounds } from './check/check-rounds.ts'
import { checkSchedule } from './check/check-schedule.ts'
import { checkTotals } from './check/check-totals.ts'
import type { Attempt, Movement } from './check/rows.ts'
import { readDeliveries, readSources, readTries, type Sources } from './check/sources.ts'
import type { Verdict } from './check/verdict.ts'
import type { Poller } from './clients/poll-events.ts'
import type { StubbornReceiver } from './faults/stubborn-receiver.ts'
import { poorBalance, walletTimeoutMs } from './open-tenancies.ts'
import type { Tenancy } from './open-tenancies.ts'
import { repeatRequests } from './repeat-requests.ts'

/** Number of movements and deliveries of which each single try is looked at. */
const triesRead = 200
const deliveriesRead = 200
const startingBalance = '1000.00'
const richBalance = '1000000000.00'

export type Compared = {
  tenancy: Tenancy
  sources: Sources
  tried: readonly { movement: Movement; attempts: readonly Attempt[] }[]
}

/** Compares what the four sources of one account's environment say. */
export async function compareSources(
  tenancy: Tenancy,
  {
    demo,
    stubborn,
    poller,
    since,
    restored,
    timeScale,
    clockSlackMs,
    absences,
    verdict,
  }: {
    demo: DemoFile
    stubborn: StubbornReceiver & { webhookId: string }
    /** Of this tenancy; null for one without. */
    poller: Poller | null
    since: string
    restored: Restored | null
    timeScale: number
    clockSlackMs: number
    /** Of the replicas of wallet-bridge. */
    absences: Absences
    verdict: Verdict
  },
): Promise<Compared> {
  const { operator, answers, recorders, receiver, walletUrl } = tenancy
  await poller?.catchUp()
  const calls = recorders
    .flatMap((recorder) => recorder.calls)
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
    .map((call, index) => ({ ...call, seq: index }))
  const receiverUrl = receiver === null ? null : demo.receiver.url
  const scope = `${operatorIdOf(tenancy.operatorId)}/${tenancy.environment === 'LIVE' ? 'LIVE' : 'SANDBOX'}`
  const lost = restored === null ? null : (restored.parts.get(scope) ?? nothingLost(restored.services))
  const given = { operator, walletUrl, receiverUrl, calls, since, restored: lost, clockSlackMs }
  const read = () => readSources(given)
  const sources = await read()
  checkMoney(sources, startOf, verdict)
  checkCalls(sources, walletTimeoutMs, verdict)
  checkRounds(sources, verdict)
  checkRestored(sources, verdict)
  checkTotals(sources, verdict)
  checkReport(sources, verdict)
  checkGrants(sources, verdict)
  checkEvents(sources, { polled: poller?.ids ?? null, webhookId: receiver?.webhookId ?? null }, verdict)
  checkAnswers(answers.all(), sources, verdict)
  checkRefusals(answers.all(), sources, verdict)
  const tried = await readTries(sources.movements, operator, triesRead)
  const isSetBack = (transactionId: string) => lost?.movements.has(transactionId) === true
  checkLadder(tried, { timeScale, clockSlackMs, absences, isSetBack }, verdict)
  if (receiver !== null) {
    const odd = sources.deliveries.filter(
      ({ status, event_id, webhook_id }) =>
        status === 'FAILED' || (webhook_id === stubborn.webhookId && stubborn.refused.has(event_id)),
    )
    const details = await readDeliveries(odd.slice(0, deliveriesRead), operator, tenancy.personToken)
    checkSchedule(sources, { details, stubborn, timeScale }, verdict)
  }
  await repeatRequests(answers.all(), sources, operator, verdict)
  const after = await read()
  verdict.check(
    'answers: asked again at the end, the record is answered and nothing moves',
    after.ledger.length === sources.ledger.length && after.movements.length === sources.movements.length,
    () =>
      `ledger ${sources.ledger.length} → ${after.ledger.length}, movements ${sources.movements.length} → ${after.movements.length}`,
  )
  return { tenancy, sources, tried }
}

function startOf(playerId: string): string {
  if (playerId.startsWith('rich')) return richBalance
  if (playerId.startsWith('broke')) return '0.00'
  return playerId.startsWith('poor') ? poorBalance : startingBalance
}
