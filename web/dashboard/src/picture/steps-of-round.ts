import type { Dossier } from '@pitboss/contracts/objects/dossier'

/** The lanes of a round's picture, from left to right. */
export const lanes = ['Player', 'Pitboss', 'Wallet', 'Events', 'Receivers'] as const
type Lane = 0 | 1 | 2 | 3 | 4

/** One arrow of the picture. */
export type Step = {
  readonly atMs: number
  readonly from: Lane
  readonly to: Lane
  readonly text: string
  /** `unknown`: nobody can say what became of it. */
  readonly tone: 'plain' | 'good' | 'problem' | 'unknown'
}

const [player, pitboss, wallet, events, receivers] = [0, 1, 2, 3, 4] as const

/** What happened in a round, in the order of time. Source: docs/contract.md, section 3, "Dossier". */
export function stepsOfRound(dossier: Dossier): Step[] {
  const { round, movements } = dossier
  const { stake, payout, currency, completed_at } = round
  const steps: Step[] = [
    step(round.created_at, [player, pitboss], `bets ${stake} ${currency}`),
    ...movements.flatMap(stepsOfMovement),
    ...dossier.events.flatMap(stepsOfEvent),
  ]
  if (completed_at !== null) {
    const isPaid = payout !== null && /[1-9]/.test(payout)
    const end = isPaid ? `gets ${payout} ${currency}` : 'gets nothing'
    const isSettled = round.status === 'SETTLED'
    const tone = !isSettled ? 'problem' : isPaid ? 'good' : 'plain'
    steps.push(step(completed_at, [pitboss, player], isSettled ? end : round.status, tone))
  }
  return steps.toSorted((a, b) => a.atMs - b.atMs)
}

function stepsOfMovement({ movement, attempts }: Dossier['movements'][number]): Step[] {
  const unclear = attempts.filter(({ classification }) => classification === 'UNKNOWN')
  return attempts.flatMap((attempt) => {
    const { sent_at, latency_ms, operation, classification } = attempt
    const number = attempt.attempt > 1 ? `, call ${attempt.attempt}` : ''
    const asked = step(sent_at, [pitboss, wallet], `${operation} ${movement.amount}${number}`)
    const answered = new Date(Date.parse(sent_at) + (latency_ms ?? 0)).toISOString()
    const code =
      attempt.wallet_code ?? (attempt.http_status === null ? 'no answer' : `HTTP ${attempt.http_status}`)
    if (classification === 'UNKNOWN')
      return [asked, step(answered, [wallet, pitboss], `? ${attempt.error ?? code}`, 'unknown')]
    if (classification === 'REFUSED') return [asked, step(answered, [wallet, pitboss], code, 'problem')]
    const before = unclear.filter((one) => one.attempt < attempt.attempt).map((one) => one.attempt)
    const settles = before.length === 0 ? '' : `, settles call ${before.join(', ')}`
    const isLast = attempt === attempts.at(-1) && before.length === 0
    const balance = isLast && movement.balance_after !== null ? `, balance ${movement.balance_after}` : ''
    const undoes = movement.type === 'ROLLBACK' ? ', ends the bet' : ''
    return [asked, step(answered, [wallet, pitboss], `${code}${settles}${undoes || balance}`, 'good')]
  })
}

function stepsOfEvent({ event, deliveries }: Dossier['events'][number]): Step[] {
  return [
    step(event.created_at, [pitboss, events], event.type),
    ...deliveries.flatMap(({ attempts }) =>
      attempts.map(({ attempt, sent_at, http_status, error }) => {
        const number = attempt > 1 ? `, attempt ${attempt}` : ''
        const isGood = error === null && http_status !== null && http_status >= 200 && http_status < 300
        const text = `${event.type}: ${http_status ?? '?'}${number}`
        return step(
          sent_at,
          [events, receivers],
          text,
          isGood ? 'good' : http_status === null ? 'unknown' : 'problem',
        )
      }),
    ),
  ]
}

function step(
  at: string,
  [from, to]: readonly [Lane, Lane],
  text: string,
  tone: Step['tone'] = 'plain',
): Step {
  return { atMs: Date.parse(at), from, to, text, tone }
}
