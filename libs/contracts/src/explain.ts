import type { DeliveryFacts, Doubt, MovementFacts, Sentence } from './objects/dossier.ts'
import type { Round } from './objects/round.ts'

/** What `explain` says something about, with the facts that it needs. */
export type Explained =
  | { readonly kind: 'movement'; readonly facts: MovementFacts }
  | { readonly kind: 'delivery'; readonly facts: DeliveryFacts }
  | { readonly kind: 'round'; readonly round: Round; readonly movements: readonly MovementFacts[] }

/**
 * Says how something stands and why it is not over yet, in sentences made of its facts alone; at least one.
 * A sentence names a time to come only where the facts plan one. Source: docs/contract.md, section 3,
 * "Dossier".
 */
export function explain(about: Explained, now: Date): Sentence[] {
  switch (about.kind) {
    case 'movement':
      return explainMovement(about.facts, now)
    case 'delivery':
      return explainDelivery(about.facts, now)
    case 'round':
      return explainRound(about.round, about.movements, now)
  }
}

const does = {
  BET: 'take the stake',
  WIN: 'pay the win',
  REFUND: 'give the stake back',
  ROLLBACK: 'take the bet back',
} as const

function explainMovement(facts: MovementFacts, now: Date): Sentence[] {
  const { movement, attempts } = facts
  const { type, status, wallet_code: code, amount, currency } = movement
  const money = `${amount} ${currency}`
  const answered = code === null ? '' : ` The wallet said ${code}.`
  switch (status) {
    case 'SUCCESS':
      return attempts.length === 0
        ? [sentence(`Settled on record: the ${type} of ${money} needed no wallet call.`)]
        : [sentence(`Settled: the wallet acknowledged the ${type} of ${money}.`)]
    case 'FAILED':
      return [sentence(`Over: the ${type} of ${money} has failed and is not tried again.${answered}`)]
    case 'REFUNDED':
      return [sentence(`Over: the stake of ${money} was taken and given back.`)]
    case 'ROLLED_BACK':
      return [sentence(`Over: the ${type} of ${money} was rolled back and does not stand.`)]
    case 'PENDING':
      return [...lastCall(facts), ...nextCall(facts, now)]
  }
}

function lastCall({ movement, attempts }: MovementFacts): Sentence[] {
  const last = attempts.at(-1)
  if (last === undefined) return []
  const said = last.wallet_code ?? (last.http_status === null ? 'no answer' : `HTTP ${last.http_status}`)
  const call = `Call ${last.attempt} to ${does[movement.type]} began at ${clockTime(last.sent_at)}`
  switch (last.classification) {
    case 'SUCCESS':
      return [sentence(`${call} and was acknowledged with ${said}.`)]
    case 'REFUSED':
      return [sentence(`${call} and was refused with ${said}.`)]
    case 'UNKNOWN':
      return [
        sentence(`${call} and ended without a clear answer: ${last.error ?? said}.`),
        sentence('Until the wallet answers clearly, nobody can say whether it was done.'),
      ]
  }
}

const doubts: Readonly<Record<Doubt, string>> = {
  'no-round': 'no round knows the stake',
  'taken-by-events': 'events say that the stake was taken, and its round does not know it',
  'events-missing': 'the events of that time are not all there',
}

function nextCall(facts: MovementFacts, now: Date): Sentence[] {
  const { movement, attempts, next_attempt_at: next, call_began_at: since, rollback_owed } = facts
  if (since !== null)
    return [sentence(`The wallet is being asked to ${does[movement.type]} since ${clockTime(since)}.`)]
  if (rollback_owed) {
    const about = { type: 'transaction', id: movement.transaction_id } as const
    return [sentence('It may have taken the stake, so a rollback of it is owed and ends it.', null, about)]
  }
  if (facts.in_doubt !== undefined) {
    return [
      sentence(`It is in doubt since a database was restored: ${doubts[facts.in_doubt]}.`),
      sentence('Nothing is taken back until operations have compared it.'),
    ]
  }
  if (next === null)
    return [sentence('No call is planned at the moment; it waits for a change of its round.')]
  const number = (attempts.at(-1)?.attempt ?? 0) + 1
  return [sentence(`Call ${number} to ${does[movement.type]} is due ${when(next, now)}.`, toCome(next, now))]
}

function explainDelivery({ wait, ...delivery }: DeliveryFacts, now: Date): Sentence[] {
  const { status, attempts, last_attempt: last, webhook_id: id } = delivery
  const endpoint = { type: 'endpoint', id } as const
  const count = `${delivery.attempt_count} ${delivery.attempt_count === 1 ? 'attempt' : 'attempts'}`
  const result =
    last === null
      ? 'It has not been sent yet.'
      : `Attempt ${last.attempt} at ${clockTime(last.sent_at)} got ${last.error ?? `HTTP ${last.http_status}`}.`
  switch (status) {
    case 'DELIVERED':
      return [sentence(`Over: the endpoint accepted it, after ${count}.`, null, endpoint)]
    case 'FAILED':
      return [
        sentence(`Over: it was given up after ${count}. ${result}`, null, endpoint),
        sentence('It is sent again only by a retry or a replay.'),
      ]
    case 'CANCELLED':
      return [sentence(`Over: it was cancelled after ${count}.`, null, endpoint)]
    case 'HELD':
    case 'PENDING': {
      const why = wait === null ? 'Its endpoint is gone' : capital(wait.words)
      return [
        ...(attempts.length === 0 && status === 'PENDING' ? [] : [sentence(result)]),
        sentence(`${why}.`, toCome(wait?.at ?? null, now), endpoint),
        ...(status === 'HELD' ? [sentence('It goes out when the endpoint is resumed with "deliver".')] : []),
      ]
    }
  }
}

function explainRound(round: Round, movements: readonly MovementFacts[], now: Date): Sentence[] {
  const open = movements.filter(({ movement }) => movement.status === 'PENDING')
  const waits = open.flatMap((facts) => {
    const { type, transaction_id: id } = facts.movement
    const about = { type: 'transaction', id } as const
    return [
      sentence(`It waits for the ${type} ${id}.`, null, about),
      ...explainMovement(facts, now).map((one) => ({ ...one, about })),
    ]
  })
  const own = (text: string) => [sentence(text), ...waits]
  const ended = howEnded(round.end_reason)
  switch (round.status) {
    case 'PENDING':
      return own('The stake has not been taken for certain yet, so the round has not begun.')
    case 'OPEN':
      return own(
        round.driver === 'operator'
          ? 'The round is open: your server has not settled it yet.'
          : 'The round is open: the player has not finished it yet.',
      )
    case 'SETTLING':
      return own('The outcome is drawn and does not change; what it owes is being settled.')
    case 'SETTLED':
      return own(`Over: the round is settled.${ended}`)
    case 'VOIDED':
      return own(`Over: the round does not count.${ended}`)
    case 'FAILED':
      return own(`Over: the round never began, because its stake was not taken.${ended}`)
  }
}

/** Ends of a round in words; the word of the record where it says all. */
const endWords: ReadonlyMap<string, string> = new Map([
  ['abandoned', 'It was left open and ended by itself.'],
  ['cashout', 'The player cashed out.'],
  ['complete', 'All that could be opened was opened.'],
  ['draw', 'The draw decided it.'],
  ['free_bet_gone', 'The free bet was gone before it began.'],
  ['loss', 'The player lost it.'],
  ['lost', 'Its record was lost with a database.'],
  ['max_payout', 'It reached the highest payout.'],
  ['refused', 'The wallet refused it.'],
  ['settled', 'Your server settled it.'],
  ['win_failed', 'A person ended a win of it as failed, so that was not paid.'],
])

function howEnded(reason: string | null): string {
  return reason === null ? '' : ` ${endWords.get(reason) ?? `It ended by ${reason}.`}`
}

function sentence(text: string, at: string | null = null, about: Sentence['about'] = null): Sentence {
  return { text, at, about }
}

function toCome(at: string | null, now: Date): string | null {
  return at !== null && Date.parse(at) > now.getTime() ? at : null
}

/** A time to come as a clock time and a distance; a time that has come is now. */
function when(at: string, now: Date): string {
  const ms = Date.parse(at) - now.getTime()
  if (ms <= 0) return 'now'
  const s = Math.ceil(ms / 1000)
  const parts = [
    [Math.floor(s / 3600), 'h'],
    [Math.floor(s / 60) % 60, 'min'],
    [s % 60, 's'],
  ] as const
  const distance = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`)
  return `at ${clockTime(at)}, in ${distance.join(' ')}`
}

/** The UTC time of day: `12:04:30 UTC`. */
function clockTime(at: string): string {
  return `${new Date(at).toISOString().slice(11, 19)} UTC`
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}
